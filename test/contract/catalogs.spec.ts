import { describe, expect, it } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import ts from 'typescript';
import { ENTRIES } from '../../web/page/catalogs.js';
import { type CountedKey, ENGLISH, LANGUAGES, languageOf, pluralOf, textsOf } from '../../web/page/texts.js';

/** A plural category as part of a key. */
const CATEGORY = /_(?:zero|one|two|few|many|other)$/;
const COUNTED = Object.keys(ENGLISH.entries).flatMap((key) =>
  key.endsWith('_other') ? key.replace(CATEGORY, '') : [],
);

const placeholdersOf = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(([name]) => name).sort();

const CATALOGS = LANGUAGES.map((language) => ({ language, entries: ENTRIES[language] }));

describe.each(CATALOGS)('The catalog $language', ({ language, entries }) => {
  const categories = new Intl.PluralRules(language).resolvedOptions().pluralCategories;
  const isCounted = (key: string) => CATEGORY.test(key) && COUNTED.includes(key.replace(CATEGORY, ''));

  it('has every text, and what counts in each plural category of the language', () => {
    const plain = Object.keys(ENGLISH.entries).filter((key) => !isCounted(key));
    const counted = COUNTED.flatMap((key) => categories.map((category) => `${key}_${category}`));

    expect(Object.keys(entries).sort()).toEqual([...plain, ...counted].sort());
    expect(Object.values(entries).filter((text) => text.trim() !== text || text === '')).toEqual([]);
  });

  it('has the placeholders of the English texts', () => {
    const faults = Object.entries(entries).filter(([key, text]) => {
      if (!isCounted(key)) return String(placeholdersOf(text)) !== String(placeholdersOf(ENGLISH.entries[key] ?? ''));
      // A category that holds for one number may say it in a word.
      const numbers = Array.from({ length: 200 }, (_, number) => number).filter(
        (number) => pluralOf(language, number).replace('1', '') === key.slice(key.lastIndexOf('_') + 1),
      );
      return numbers.length === 1
        ? !['', '{count}'].includes(String(placeholdersOf(text)))
        : String(placeholdersOf(text)) !== '{count}';
    });

    expect(faults).toEqual([]);
  });

  it('keeps a number on one line, with its unit, on pages', () => {
    const pages = Object.entries(entries).filter(([key]) => !key.startsWith('mail_'));

    expect(pages.filter(([, text]) => /\d \d|(?:30|72) \p{L}/u.test(text))).toEqual([]);
  });

  it('is at most 3 kB as the widget loads it', () => {
    const file = readFileSync(`dist/web/widget/texts/${language}.json`);

    expect(Object.keys(JSON.parse(file.toString()) as object)).toEqual(
      expect.arrayContaining(['button', 'place', 'referral_link', 'invalid_email', 'leave_empty']),
    );
    expect(gzipSync(file).length).toBeLessThan(3_000);
  });
});

describe('A text that counts', () => {
  it.each([
    ['pl', [1, 2, 5, 22], ['1 osoba', '2 osoby', '5 osób', '22 osoby']],
    ['en', [1, 2], ['1 person', '2 people']],
    ['fr', [1, 2], ['1 personne', '2 personnes']],
  ])('is written by the rules of the language: %s', (lang, amounts, expected) => {
    const catalog = CATALOGS.find(({ language }) => language === lang)!;
    const { count } = textsOf({ lang, texts: {} }, catalog);

    for (const [index, amount] of amounts.entries()) expect(count('in_line', amount)).toContain(expected[index]);
  });

  it('is the owner’s for 1 and for every other number', () => {
    const { count } = textsOf(
      { lang: 'ru', texts: { one_ahead: 'Перед вами 1 человек.', many_ahead: 'Перед вами: {count}.' } },
      ENGLISH,
    );

    expect([1, 21, 5].map((amount) => count('ahead' satisfies CountedKey, amount))).toEqual([
      'Перед вами 1 человек.',
      'Перед вами: 21.',
      'Перед вами: 5.',
    ]);
  });
});

it.each([
  ['de', 'de'],
  ['de-AT', 'de'],
  ['pt', 'pt-BR'],
  ['PT-br', 'pt-BR'],
  ['zh', 'zh-Hans'],
  ['zh-CN', 'zh-Hans'],
  ['sv', 'en'],
])('A waitlist in %s has the texts of %s', (lang, language) => {
  expect(languageOf(lang)).toBe(language);
});

/** Words with a space between, the end of a sentence, a word with a capital, or another script, as people read them. */
const WORDS = /^\P{L}*(?:\p{L}[\p{L}’'-]*[,:]? \p{L}|\p{L}[\p{L}’'-]*[.!?…]$|\p{Lu}\p{Ll}+:?$|[^\p{ASCII}]\p{L}+)/u;
/** Attributes that people read, or hear. */
const READ_ATTRIBUTES = ['alt', 'aria-label', 'placeholder', 'title'];
/** What browsers read. */
const TECHNICAL = /^(?:noopener noreferrer|light dark|<!doctype html>|public, max-age=|\.?waitlist-|signup\?)/;
const NAMES = ['Ada', 'Facebook', 'LinkedIn', 'WhatsApp'];
/** Of src/mail, the files that make mails to people: the others send them. */
const PLACES = ['web/page', 'web/widget', 'src/pages', 'src/mail/mail-texts.ts', 'src/mail/mail-layout.ts'];

/** The texts in a file that people would read, but for those of errors that only developers see. */
function literalsIn(path: string): string[] {
  const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isThrowStatement(node) || ts.isNewExpression(node)) return;
    const isRead =
      ts.isJsxText(node) ||
      (ts.isStringLiteral(node) &&
        ts.isJsxAttribute(node.parent) &&
        READ_ATTRIBUTES.includes(node.parent.name.getText()));
    // Languages differ in their punctuation too.
    if (isRead && /[\p{L}:;,.!?]/u.test(node.text)) found.push(node.text);
    if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)) {
      const text = node.text.replaceAll(/<[^>]*>|\{\{[^}]*\}\}/g, '').trim();
      if (WORDS.test(text) && !TECHNICAL.test(node.text) && !NAMES.includes(text)) found.push(text);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

it.each(PLACES)('No text that visitors read stands outside of the catalogs: %s', (place) => {
  const files = /\.tsx?$/.test(place)
    ? [place]
    : readdirSync(place, { recursive: true, encoding: 'utf8' })
        .filter((name) => /(?<!\.spec|config)\.tsx?$/.test(name))
        .map((name) => `${place}/${name}`);

  expect(files.length).toBeGreaterThan(0);
  expect(files.flatMap((file) => literalsIn(file).map((text) => `${file}: ${text}`))).toEqual([]);
});
