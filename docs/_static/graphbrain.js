// What Furo's markup lacks for readers who use a keyboard or a screen reader.
(() => {
  const names = { ".sidebar-drawer": "Site navigation", ".toc-drawer": "Contents of this page" };
  for (const [place, name] of Object.entries(names)) document.querySelector(place)?.setAttribute("aria-label", name);

  // A box that scrolls must be reachable by the Tab key. Which boxes scroll depends on the width of the window.
  const boxes = document.querySelectorAll("pre, .table-wrapper, .highlight");
  const mark = () => {
    for (const box of boxes) {
      if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  };
  mark();
  addEventListener("resize", mark);
})();
