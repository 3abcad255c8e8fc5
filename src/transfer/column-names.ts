/*
 * Decides what the columns of a file are read as. Imports nothing, because the desk uses it too, to show the columns
 * before it sends the file.
 */

/** In the order of an export. */
export const COLUMNS = [
  'join_order',
  /** Only in an export. An import computes it. */
  'position',
  'email',
  'registered_email',
  'phone',
  'first_name',
  'last_name',
  'created_at',
  'verified',
  'referral_token',
  'referred_by',
  'amount_referred',
  'credit',
  'credit_reasons',
  'spots_advanced',
  'removed_date',
  'removed_priority',
  'removed_reason',
  'joined_priority',
  'uuid',
  'metadata',
  'question_1',
  'answer_1',
  'question_2',
  'answer_2',
  'question_3',
  'answer_3',
  'answers',
] as const;
export type Column = (typeof COLUMNS)[number];

/** Those that an import reads. */
export const IMPORTED = COLUMNS.filter((column) => column !== 'position');

/** A header with more names is refused. */
export const COLUMNS_MAX = 200;

/** By folded name: see `fold`. */
const BY_FOLDED_NAME = new Map<string, Column>(IMPORTED.map((column) => [fold(column), column]));
const ALIASES = new Map<string, Column>([
  ['mail', 'email'],
  ['emailaddress', 'email'],
  ['givenname', 'first_name'],
  ['surname', 'last_name'],
  ['familyname', 'last_name'],
  ['phonenumber', 'phone'],
  ['mobile', 'phone'],
  ['signupdate', 'created_at'],
  ['signedup', 'created_at'],
  ['referralcode', 'referral_token'],
  // As the hosted product's API names it.
  ['referredbysignuptoken', 'referred_by'],
]);
/** Of these, a value that does not fit a guessed column is left out. Of all others, it rejects the line. */
export const LENIENT: ReadonlySet<Column> = new Set(ALIASES.values());
/** Read as `first_name` if the file has no column of first or last names. */
const WHOLE_NAME = 'name';

/** With their names in errors and at the desk. */
export const DELIMITERS = { ',': 'commas', ';': 'semicolons', '\t': 'tabs' } as const;
export type Delimiter = keyof typeof DELIMITERS;

/** What the caller says that columns are, by their names in the file; null ignores the column. */
export type Mapping = Readonly<Record<string, Column | null>>;

export interface ColumnUse {
  /** The name in the file, without spaces around it. */
  readonly header: string;
  /** What it is read as; null if it is ignored. */
  readonly column: Column | null;
  /** Recognized by another spelling or name. An invalid value is left out instead of rejecting its line. */
  readonly isGuess: boolean;
  /** The caller's mapping puts its values into the metadata, under its name. */
  readonly isKept: boolean;
}

/** The column with exactly this name, in any case. */
export function ownColumn(header: string): Column | null {
  const name = header.trim().toLowerCase();
  return IMPORTED.find((column) => column === name) ?? null;
}

/**
 * What each column of a file is read as. The mapping comes first, then exact names, other spellings, and aliases. If
 * two columns match the same one, the first wins. Only an exact name can be in the result twice: the caller must refuse
 * that.
 */
export function usesOf(headers: readonly string[], mapping: Mapping = {}): ColumnUse[] {
  const uses = headers.map((header): ColumnUse => {
    const column = (Object.hasOwn(mapping, header) && mapping[header]) || null;
    return { header, column, isGuess: false, isKept: column === 'metadata' && ownColumn(header) !== 'metadata' };
  });
  const read = (find: (header: string) => Column | null | undefined, isGuess: boolean) => {
    const taken = new Set(columnsOf(uses));
    for (const [index, header] of headers.entries()) {
      const column = uses[index]?.column === null && !Object.hasOwn(mapping, header) ? find(header) : null;
      if (!column || taken.has(column)) continue;
      uses[index] = { header, column, isGuess, isKept: false };
      if (isGuess) taken.add(column);
    }
  };
  read(ownColumn, false);
  read((header) => BY_FOLDED_NAME.get(fold(header)), true);
  read((header) => ALIASES.get(fold(header)), true);
  const named = columnsOf(uses);
  if (!named.includes('first_name') && !named.includes('last_name'))
    read((header) => (fold(header) === WHOLE_NAME ? 'first_name' : null), true);
  return uses;
}

/** The columns that are read, without those kept as metadata. One that is in the file twice is here twice. */
export function columnsOf(uses: readonly ColumnUse[]): Column[] {
  return uses.flatMap(({ column, isKept }) => (column === null || isKept ? [] : [column]));
}

/** Ignores case, spaces, `_`, `-` and the byte order mark, which `\s` matches. */
function fold(name: string): string {
  return name.toLowerCase().replace(/[\s_-]+/g, '');
}

/** The delimiter that splits the first row into the most names of the mapping, then of columns, then of any. */
export function delimiterOf(start: string, mapping: Mapping = {}): Delimiter {
  const delimiters = Object.keys(DELIMITERS) as Delimiter[];
  const scored = delimiters.map((delimiter) => {
    const headers = namesIn(start, delimiter);
    const mapped = headers.filter((header) => Object.hasOwn(mapping, header.trim())).length;
    const own = headers.filter((header) => ownColumn(header) !== null).length;
    return { delimiter, scores: [mapped, own, new Set(columnsOf(usesOf(headers))).size, headers.length] };
  });
  const [best] = scored.toSorted(({ scores: one }, { scores: other }) => {
    const decisive = one.findIndex((score, index) => score !== other[index]);
    return decisive < 0 ? 0 : other[decisive]! - one[decisive]!;
  });
  return best?.delimiter ?? ',';
}

/** The names in the first row that is not empty. Accepts wrong quotes, which the parser refuses later. */
function namesIn(start: string, delimiter: Delimiter): string[] {
  const names = [''];
  let isQuoted = false;
  for (const character of start.trimStart()) {
    if (character === '"') isQuoted = !isQuoted;
    else if (!isQuoted && (character === '\n' || character === '\r')) break;
    else if (!isQuoted && character === delimiter) {
      // The parser refuses more.
      if (names.length > COLUMNS_MAX) break;
      names.push('');
    } else names.push(`${names.pop()}${character}`);
  }
  return names;
}
