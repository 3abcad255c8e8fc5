/** The rules that a field can break. Clients compare these names, so a name never changes its meaning. */
export const RULES = [
  'required',
  'type',
  'format',
  /** No NUL, control characters, invisible characters in an email, or lone surrogates. */
  'characters',
  'min_length',
  'max_length',
  'minimum',
  'maximum',
  'min_items',
  'max_items',
  /** Bytes of compact JSON. */
  'max_bytes',
  'max_levels',
  'max_values',
  'one_of',
  'unique',
  /** The field, or what its value refers to, exists. */
  'known',
  /** The password of the member, or a code of the second factor. */
  'match',
  /** A password that cannot be guessed easily. */
  'strength',
  /** An `https` URL of a public address, or of a network that the operator allows. */
  'public_address',
  /** A record has an email or a phone. */
  'reachable',
] as const;
export type Rule = (typeof RULES)[number];
