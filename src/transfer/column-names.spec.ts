import { describe, expect, it } from '@jest/globals';
import { type Column, COLUMNS, delimiterOf, type Mapping, usesOf } from './column-names.js';

/** What each column is read as: a guess has `?`, metadata under the column's own name `+`, an ignored one `-`. */
function readAs(headers: readonly string[], mapping?: Mapping): string[] {
  return usesOf(headers, mapping).map(({ column, isGuess, isKept }) =>
    column === null ? '-' : `${column}${isGuess ? '?' : ''}${isKept ? '+' : ''}`,
  );
}

describe('the columns of a file', () => {
  it('are read by their own names in any case, but for the position', () => {
    expect(readAs(COLUMNS.map((column) => column.toUpperCase()))).toEqual(
      COLUMNS.map((column) => (column === 'position' ? '-' : column)),
    );
  });

  it.each<[Column, readonly string[]]>([
    ['email', ['E-Mail', 'mail', 'Email Address', 'EmailAddress', '\uFEFFe_mail']],
    ['first_name', ['First Name', 'firstname', 'FIRST-NAME', 'first  name', 'Given Name', 'Name']],
    ['last_name', ['Last name', 'LastName', 'Surname', 'Family name']],
    ['phone', ['Phone Number', 'phone-number', 'Mobile']],
    ['created_at', ['Created At', 'Signup Date', 'signup_date', 'Signed up']],
    ['referral_token', ['Referral Token', 'Referral Code']],
    ['referred_by', ['Referred By', 'referred-by', 'referred_by_signup_token']],
    ['question_1', ['Question 1']],
    ['metadata', ['Meta Data']],
  ])('are found by another name of %s', (column, headers) => {
    for (const header of headers) expect(readAs([header])).toEqual([`${column}?`]);
  });

  it.each(['Names', 'constructor', '__proto__', 'Position', 'Waitlist name', ''])('are not found by %j', (header) => {
    expect(readAs([header])).toEqual(['-']);
  });

  it('are read by their own name before another spelling, by that before an alias, and else by the first', () => {
    expect(readAs(['mail', 'e-mail', 'email'])).toEqual(['-', '-', 'email']);
    expect(readAs(['mail', 'e-mail'])).toEqual(['-', 'email?']);
    expect(readAs(['mobile', 'phone number'])).toEqual(['phone?', '-']);
  });

  it('are a first name by "name" only where none is a first or a last name', () => {
    expect(readAs(['name', 'email'])).toEqual(['first_name?', 'email']);
    expect(readAs(['name', 'surname'])).toEqual(['-', 'last_name?']);
    expect(readAs(['name', 'first_name'])).toEqual(['-', 'first_name']);
  });

  it('are read as the mapping says, whatever their names say', () => {
    const mapping: Mapping = {
      Adresse: 'email',
      email: null,
      Notes: 'metadata',
      phone: 'metadata',
      metadata: 'metadata',
    };

    expect(readAs(['Adresse', 'email', 'mail', 'Notes', 'phone', 'mobile', 'metadata'], mapping)).toEqual([
      ...['email', '-', '-', 'metadata+', 'metadata+', 'phone?', 'metadata'],
    ]);
  });
});

describe('the delimiter of a file', () => {
  it.each([
    [',', 'email'],
    [',', 'email,first_name'],
    [';', 'E-Mail;First Name\nada@example.com;Ada,x,y,z'],
    ['\t', 'email\tname'],
    [';', '\r\n\r\n"First;Name, or; both";"email"\r\n,,,,'],
    [',', '"a;b;c;d",email'],
    [';', '"first\nname, with\na break";email'],
    // The one that finds columns, not the most frequent one.
    [';', 'email;Name, as spoken;Town, county, country'],
    [',', 'email,tags;a;b;c'],
    [';', 'Adresse;Nom;Ville, pays'],
    [';', 'email;Name, first;Phone number, mobile'],
    [',', ''],
  ])('is %j in %j', (delimiter, text) => {
    expect(delimiterOf(text)).toBe(delimiter);
  });

  it('is the one with the most names of the mapping', () => {
    const header = 'Straße;Vorname, Nachname;Ort, Land, Region';

    expect([delimiterOf(header), delimiterOf(header, { Straße: 'email' })]).toEqual([',', ';']);
  });
});
