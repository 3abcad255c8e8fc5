/*
 * What the columns of a file are read as. It imports nothing, because the desk shows the same reading before it sends
 * the file.
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

/** Other names, folded. */
const ALIASES: Readonly<Record<string, Column>> = {
  mail: 'email',
  emailaddress: 'email',
  givenname: 'first_name',
  surname: 'last_name',
  familyname: 'last_name',
  phonenumber: 'phone',
  mobile: 'phone',
  signupdate: 'created_at',
  signedup: 'created_at',
  referralcode: 'referral_token',
  // As the hosted product's API names it.
  referredbysignuptoken: 'referred_by',
};
/** The name of somebody, in a file without a column of first or last names. */
const WHOLE_NAME = 'name';

/** By which a file may separate its cells. */
export const DELIMITERS = { ',': 'commas', ';': 'semicolons', '\t': 'tabs' } as const;
export type Delimiter = keyof typeof DELIMITERS;

/** What the caller wants columns to be read as, by their names in the file; null leaves one out. */
export type Mapping = Readonly<Record<string, Column | null>>;

export interface ColumnUse {
  /** The name in the file, without spaces around it. */
  readonly header: string;
  /** What it is read as; null if it is ignored. */
  readonly column: Column | null;
  /** Found by another spelling or name. A value that does not fit is left out, and its line stays. */
  readonly isGuess: boolean;
  /** Its values go into the metadata under its name. The caller's mapping says so. */
  readonly isKept: boolean;
}

/** The column of exactly this name, but for case. */
export function ownColumn(header: string): Column | null {
  const name = header.trim().toLowerCase();
  return IMPORTED.find((column) => column === name) ?? null;
}

/**
 * What each column of a file is read as. The mapping comes first, then own names, other spellings of them, and aliases;
 * of two columns for one, the first. Only an own name can be there twice: the caller must refuse that.
 */
export function usesOf(headers: readonly string[], mapping: Mapping = {}): ColumnUse[] {
  const uses = headers.map((header): ColumnUse => {
    const column = (Object.hasOwn(mapping, header) && mapping[header]) || null;
    return { header, column, isGuess: false, isKept: column === 'metadata' && ownColumn(header) !== 'metadata' };
  });
  const read = (find: (header: string) => Column | null | undefined, isGuess: boolean) => {
    const taken = columnsOf(uses);
    for (const [index, header] of headers.entries()) {
      const column = uses[index]?.column === null && !Object.hasOwn(mapping, header) ? find(header) : null;
      if (!column || taken.has(column)) continue;
      uses[index] = { header, column, isGuess, isKept: false };
      if (isGuess) taken.add(column);
    }
  };
  read(ownColumn, false);
  read((header) => IMPORTED.find((column) => fold(column) === fold(header)), true);
  read((header) => (Object.hasOwn(ALIASES, fold(header)) ? ALIASES[fold(header)] : null), true);
  const named = columnsOf(uses);
  if (!named.has('first_name') && !named.has('last_name'))
    read((header) => (fold(header) === WHOLE_NAME ? 'first_name' : null), true);
  return uses;
}

/** The columns that are read, without those kept as metadata. */
export function columnsOf(uses: readonly ColumnUse[]): Set<Column> {
  return new Set(uses.flatMap(({ column, isKept }) => (column === null || isKept ? [] : [column])));
}

/** Case, spaces, `_` and `-` make no difference, nor does a byte order mark, which is a space here. */
function fold(name: string): string {
  return name.toLowerCase().replace(/[\s_-]+/g, '');
}

/** What separates the names in the first row: the delimiter with the most names that are known, then the most names. */
export function delimiterOf(start: string): Delimiter {
  const delimiters = Object.keys(DELIMITERS) as Delimiter[];
  const scored = delimiters.map((delimiter) => {
    const headers = namesIn(start, delimiter);
    return { delimiter, known: columnsOf(usesOf(headers)).size, names: headers.length };
  });
  const [best] = scored.toSorted((one, other) => other.known - one.known || other.names - one.names);
  return best?.delimiter ?? ',';
}

/** The names in the first row that is not empty. The parser reads them again: this takes wrong quotes for right. */
function namesIn(start: string, delimiter: Delimiter): string[] {
  const names = [''];
  let isQuoted = false;
  for (const character of start.trimStart()) {
    if (character === '"') isQuoted = !isQuoted;
    else if (!isQuoted && (character === '\n' || character === '\r')) break;
    else if (!isQuoted && character === delimiter) names.push('');
    else names.push(`${names.pop()}${character}`);
  }
  return names;
}
