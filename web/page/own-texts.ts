import { type Catalog, type CountedKey, ENGLISH, OWN_PAIRS, type TextKey } from './texts.js';

/** The texts that an owner can replace, by their keys in the setting `texts`. Mails are worded elsewhere. */
export type OwnTextKey = Exclude<TextKey, `mail_${string}`> | (typeof OWN_PAIRS)[CountedKey][number];

/** The entry of a catalog that each stands for. */
const ENTRIES = entriesOfOwnKeys();
export const OWN_TEXT_KEYS = Object.keys(ENTRIES) as readonly OwnTextKey[];

function entriesOfOwnKeys(): Readonly<Record<string, string>> {
  const pairs = Object.entries(OWN_PAIRS).flatMap(([base, [one, many]]) => [
    [`${base}_one`, one],
    [`${base}_other`, many],
  ]);
  const own = new Map(pairs as [string, string][]);
  const entries = Object.keys(ENGLISH.entries).filter((entry) => !entry.startsWith('mail_'));
  const keys = entries.map((entry) => [own.get(entry) ?? entry, entry]);
  return Object.fromEntries([...keys, ['purpose', ''], ['introduction', '']]) as Record<string, string>;
}

/** What stands where the owner wrote nothing. */
export function defaultText({ entries }: Catalog, key: OwnTextKey): string {
  const entry = ENTRIES[key] ?? '';
  return entries[entry] ?? entries[entry.replace(/_one$/, '_other')] ?? '';
}
