import { type Catalog, type CountedKey, ENGLISH, type OwnPairKey, ownPairKey, type TextKey } from './texts.js';

/** The texts that an owner can replace, by their keys in the setting `texts`. Mails are worded elsewhere. */
export type OwnTextKey = Exclude<TextKey, `mail_${string}`> | OwnPairKey;

/** The entry of a catalog that each stands for. */
const ENTRIES = entriesOfOwnKeys();
export const OWN_TEXT_KEYS = Object.keys(ENTRIES) as readonly OwnTextKey[];

function entriesOfOwnKeys(): Readonly<Record<string, string>> {
  const entries = Object.keys(ENGLISH.entries).filter((entry) => !entry.startsWith('mail_'));
  const keys = entries.map((entry) => {
    const [, base, plural] = /^(\w+)_(one|other)$/.exec(entry) ?? [];
    const isCounted = base !== undefined && `${base}_other` in ENGLISH.entries;
    return [isCounted ? ownPairKey(base as CountedKey, plural === 'one') : entry, entry];
  });
  return Object.fromEntries([...keys, ['purpose', ''], ['introduction', '']]) as Record<string, string>;
}

/** What stands where the owner wrote nothing. */
export function defaultText({ entries }: Catalog, key: OwnTextKey): string {
  const entry = ENTRIES[key] ?? '';
  return entries[entry] ?? entries[entry.replace(/_one$/, '_other')] ?? '';
}
