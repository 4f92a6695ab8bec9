// Return the virtual page's account, the offsets and the clock.
//
// column  virtual  MAP  the properties of the (:Brain) that begin with virtual_
// rows    one
// locks   none
// mode    read
// retry   safe
MATCH (b:Brain {key: 'brain'})
RETURN b {.virtual_pages, .virtual_hub_cash, .virtual_authority_cash, .virtual_hub_history, .virtual_authority_history,
          .virtual_updated, .virtual_hub_offset, .virtual_authority_offset, .virtual_hub_total,
          .virtual_authority_total, .virtual_spent, .virtual_stirred, .virtual_clock, .virtual_rebased,
          .virtual_hub_base, .virtual_authority_base, .virtual_hub_held} AS virtual
