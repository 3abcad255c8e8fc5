/** The filters of the audit log, which the address holds. */
export interface AccountSearch {
  readonly waitlist?: number;
  readonly uuid?: string;
  /** The id of a member. */
  readonly member?: string;
}

/** Reads an address; what is not a filter is left out. */
export function accountSearchOf({ waitlist, uuid, member }: Record<string, unknown>): AccountSearch {
  return {
    ...(typeof waitlist === 'number' && { waitlist }),
    ...(typeof uuid === 'string' && { uuid }),
    ...(typeof member === 'string' && { member }),
  };
}
