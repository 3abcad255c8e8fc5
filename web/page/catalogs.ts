import ar from './catalogs/ar.json' with { type: 'json' };
import de from './catalogs/de.json' with { type: 'json' };
import en from './catalogs/en.json' with { type: 'json' };
import es from './catalogs/es.json' with { type: 'json' };
import fr from './catalogs/fr.json' with { type: 'json' };
import it from './catalogs/it.json' with { type: 'json' };
import ja from './catalogs/ja.json' with { type: 'json' };
import nl from './catalogs/nl.json' with { type: 'json' };
import pl from './catalogs/pl.json' with { type: 'json' };
import ptBR from './catalogs/pt-BR.json' with { type: 'json' };
import tr from './catalogs/tr.json' with { type: 'json' };
import zhHans from './catalogs/zh-Hans.json' with { type: 'json' };
import type { PublicWaitlist } from './model.js';
import { type Catalog, type Language, languageOf, type Texts, textsOf } from './texts.js';

export const ENTRIES: Readonly<Record<Language, Catalog['entries']>> = {
  ar,
  de,
  en,
  es,
  fr,
  it,
  ja,
  nl,
  pl,
  'pt-BR': ptBR,
  tr,
  'zh-Hans': zhHans,
};

/** For the server, which has all languages; the widget and the desk load the one they show. */
export function textsInLanguage(waitlist: Pick<PublicWaitlist, 'lang' | 'texts'>): Texts {
  const language = languageOf(waitlist.lang);
  return textsOf(waitlist, { language, entries: ENTRIES[language] });
}
