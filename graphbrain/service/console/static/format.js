// Numbers and times as people read them.

export const count = (number) => (number === null || number === undefined ? "–" : number.toLocaleString("en"));

/** A number rounded to so many digits. Only what is very small has an exponent. */
export const digits = (number, most) => {
  if (number === null || number === undefined) return "–";
  if (number !== 0 && Math.abs(number) < 1e-6) return number.toExponential(1);
  return number.toLocaleString("en", { maximumSignificantDigits: most });
};

export const short = (number) => {
  for (const [unit, size] of [["G", 1e9], ["M", 1e6], ["k", 1e3]]) {
    if (Math.abs(number) >= size) return `${(number / size).toFixed(1).replace(/\.0$/, "")}${unit}`;
  }
  return digits(number, 3);
};

export const bytes = (number) => `${short(number)}B`.replace(/^(\S+?)([GMk]?)B$/, "$1 $2B");

export const score = (number) => digits(number, 4);

export const percent = (share) => {
  if (share === null || share === undefined) return "–";
  const hundred = 100 * share;
  return `${hundred >= 0.01 || hundred === 0 ? hundred.toFixed(2) : hundred.toPrecision(1)} %`;
};

/** So many seconds, in the two largest units. */
export function span(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  const whole = Math.max(0, Math.round(seconds));
  const units = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
  const first = units.findIndex(([, size]) => whole >= size);
  if (first < 0) return seconds > 0 ? `${Number(seconds.toPrecision(2))} s` : "0 s";
  let left = whole;
  return units.slice(first, first + 2).map(([unit, size]) => {
    const many = Math.floor(left / size);
    left -= many * size;
    return many ? `${many} ${unit}` : "";
  }).filter(Boolean).join(" ");
}

/** A time in UTC, to the second. */
export const time = (epoch) =>
  epoch === null || epoch === undefined ? null : `${new Date(epoch * 1000).toISOString().slice(0, 19).replace("T", " ")} UTC`;

/** The same to the minute. */
export const minute = (epoch) => (epoch === null || epoch === undefined ? null : time(epoch).slice(0, 16));

export const clock = (epoch) => new Date(epoch * 1000).toISOString().slice(11, 16);

export const many = (number, word) => `${count(number)} ${word}${number === 1 ? "" : "s"}`;
