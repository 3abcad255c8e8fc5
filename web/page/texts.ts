import english from './catalogs/en.json' with { type: 'json' };
import type { PublicWaitlist } from './model.js';

/** The tags of the catalogs: each is a file in catalogs/, see the README there. */
export const LANGUAGES = ['ar', 'de', 'en', 'es', 'fr', 'it', 'ja', 'nl', 'pl', 'pt-BR', 'tr', 'zh-Hans'] as const;
export type Language = (typeof LANGUAGES)[number];

/** Our texts in one language. A text that counts has an entry for each plural category: `ahead_one`, `ahead_other`. */
export interface Catalog {
  readonly language: Language;
  readonly entries: Readonly<Record<string, string>>;
}

export const ENGLISH: Catalog = { language: 'en', entries: english };

type BaseOf<Entry> = Entry extends `${infer Base}_other` ? Base : never;
/** The texts that count. */
export type CountedKey = BaseOf<keyof typeof english>;
/** All others. The last two are empty until the owner writes them: the use of the data, and a text below the title. */
export type TextKey = Exclude<keyof typeof english, `${CountedKey}_${'one' | 'other'}`> | 'purpose' | 'introduction';

type OneKey<Key extends string> = Key extends `${infer Single}s` ? `one_${Single}` : `one_${Key}`;
/** As an owner writes a text that counts: one for 1, one for every other number. */
export type OwnPairKey = OneKey<CountedKey> | `many_${CountedKey}`;

export function ownPairKey(key: CountedKey, isOne: boolean): OwnPairKey {
  return (isOne ? `one_${key.replace(/s$/, '')}` : `many_${key}`) as OwnPairKey;
}

/** A plural category of CLDR, and whether the number is 1. Several numbers share one. */
export type Plural = `${'1' | ''}${Intl.LDMLPluralRule}`;

const rules = new Map<Language, Intl.PluralRules>();

export function pluralOf(language: Language, amount: number): Plural {
  const own = rules.get(language) ?? new Intl.PluralRules(language);
  rules.set(language, own);
  return `${amount === 1 ? '1' : ''}${own.select(amount)}`;
}

/** The texts of a waitlist in its language. `{…}` in a text stands for a value. */
export interface Texts {
  readonly lang: string;
  readonly direction: 'ltr' | 'rtl';
  /** The text with its values; numbers are written as the language does. */
  readonly text: (key: TextKey, values?: Readonly<Record<string, string | number>>) => string;
  readonly count: (key: CountedKey, amount: number) => string;
  /** As `count`, for a number that is written already. */
  readonly counted: (key: CountedKey, plural: Plural, count: string) => string;
}

/**
 * The owner's texts, and ours for the rest. The page's language is that of the catalog, unless the owner wrote texts:
 * then it is the one that they set.
 */
export function textsOf({ lang, texts }: Pick<PublicWaitlist, 'lang' | 'texts'>, catalog: Catalog): Texts {
  const { language, entries } = catalog;
  const shown = Object.keys(texts).length > 0 ? lang : language;
  const numbers = new Intl.NumberFormat(shown);
  const filled = (text: string, values: Readonly<Record<string, string | number>>) =>
    text.replaceAll(/\{(\w+)\}/g, (placeholder, name: string) => {
      const value = Object.hasOwn(values, name) ? values[name] : undefined;
      return value === undefined ? placeholder : typeof value === 'number' ? numbers.format(value) : value;
    });
  const counted = (key: CountedKey, plural: Plural, count: string) => {
    const entry = entries[`${key}_${plural.replace('1', '')}`] ?? entries[`${key}_other`] ?? '';
    return filled(texts[ownPairKey(key, plural.startsWith('1'))] ?? entry, { count });
  };
  return {
    lang: shown,
    direction: directionOf(shown),
    text: (key, values = {}) => filled(texts[key] ?? entries[key] ?? ENGLISH.entries[key] ?? '', values),
    count: (key, amount) => counted(key, pluralOf(language, amount), numbers.format(amount)),
    counted,
  };
}

/** The catalog of the whole tag, else of its primary language, else English. */
export function languageOf(lang: string): Language {
  const tag = lang.toLowerCase();
  const primary = primaryOf(tag);
  const language =
    LANGUAGES.find((one) => one.toLowerCase() === tag) ?? LANGUAGES.find((one) => primaryOf(one) === primary);
  return language ?? 'en';
}

function primaryOf(tag: string): string {
  return tag.replace(/-.*/, '');
}

/** Languages, and scripts, that are written from right to left. */
const RIGHT_TO_LEFT = /^(?:ar|ckb|dv|fa|he|ks|ps|sd|ug|ur|yi)(?:-|$)|-(?:Arab|Hebr|Thaa)(?:-|$)/i;

export function directionOf(lang: string): 'ltr' | 'rtl' {
  // Not the digits of `ar-u-nu-latn`.
  return RIGHT_TO_LEFT.test(lang) && !/^[a-z]+-Latn(?:-|$)/i.test(lang) ? 'rtl' : 'ltr';
}

/** The texts that belong to no waitlist. */
export const DEFAULT_TEXTS = textsOf({ lang: 'en', texts: {} }, ENGLISH);
