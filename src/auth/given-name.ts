/** A name in a body: blank text removes it, and undefined keeps it as it is. */
export function givenName(name: string | null | undefined): string | null | undefined {
  return name === undefined ? undefined : name?.trim() || null;
}
