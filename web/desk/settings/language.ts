import { LANGUAGES, languageOf } from '../../page/texts';
import type { Read } from '../parts/normalize-on-blur';

const NAMES = new Intl.DisplayNames('en', { type: 'language', languageDisplay: 'standard' });

interface Language {
  readonly tag: string;
  readonly label: string;
  /** The tag and the names that find it, in lower case. */
  readonly words: readonly string[];
}

/** The languages that have our texts, by their names. */
export const CATALOGS: readonly Language[] = LANGUAGES.map((tag) => {
  const name = nameOf(tag);
  const ownName = new Intl.DisplayNames(tag, { type: 'language' }).of(tag) ?? tag;
  const words = [tag, name, nameOf(tag.replace(/-.*/, '')), ownName].map((word) => word.toLowerCase());
  return { tag, label: `${name} (${tag})`, words };
}).sort((one, other) => one.label.localeCompare(other.label, 'en'));

/**
 * The tag that was typed, or that of a name. Intl also accepts words of five to eight letters, such as “german”, but
 * no language has such a tag.
 */
export function readLanguage(typed: string): Read {
  const text = typed.trim();
  const named = CATALOGS.find(({ words }) => words.includes(text.toLowerCase()));
  if (named) return { text: named.tag, fault: null };
  try {
    const [tag] = Intl.getCanonicalLocales(text);
    if (tag !== undefined && /^[a-z]{2,3}(?:-|$)/.test(tag)) return { text: tag, fault: null };
  } catch {
    // No tag: the fault below.
  }
  return { text, fault: 'Choose a language from the list, or enter the tag of another one, such as sv.' };
}

/** Which language a text of the field stands for, and what that means for our texts; empty for none. */
export function describeLanguage(typed: string): string {
  const { text: tag, fault } = readLanguage(typed);
  if (fault !== null) return '';
  const catalog = languageOf(tag);
  const isTranslated = catalog.replace(/-.*/, '') === tag.replace(/-.*/, '');
  return isTranslated
    ? `${nameOf(tag)}.`
    : `${nameOf(tag)}: our texts for it are English, so write all texts below in it.`;
}

function nameOf(tag: string): string {
  return NAMES.of(tag) ?? tag;
}
