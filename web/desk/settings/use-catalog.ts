import { useQuery } from '@tanstack/react-query';
import { type Catalog, ENGLISH, languageOf } from '../../page/texts';

const FILES = import.meta.glob<Catalog['entries']>(['../../page/catalogs/*.json', '!**/en.json'], {
  import: 'default',
});

/** The texts that visitors read where the owner wrote none. English until the file of the language has arrived. */
export function useCatalog(lang: string): Catalog {
  const language = languageOf(lang);
  const load = FILES[`../../page/catalogs/${language}.json`];
  const { data } = useQuery({
    queryKey: ['catalog', language],
    queryFn: async (): Promise<Catalog> => ({ language, entries: await load!() }),
    enabled: load !== undefined,
    staleTime: Infinity,
  });
  return data ?? ENGLISH;
}
