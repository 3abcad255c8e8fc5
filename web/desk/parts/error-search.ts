export interface ErrorSearch {
  /** The code of what failed at the provider of single sign-on. */
  readonly error?: string;
}

/** Reads an address; what is unknown is left out. */
export function errorSearchOf({ error }: Record<string, unknown>): ErrorSearch {
  return typeof error === 'string' ? { error } : {};
}
