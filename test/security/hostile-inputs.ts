import { OWNER as CREDENTIALS } from '../support/service-process.js';

/**
 * One hostile request a row, with what it must come to. `{id}`, `{key}`, `{token}` and the other names of
 * {@link Target} stand for those of a waitlist of the owner; `"{id}"` in JSON becomes the number.
 */
export interface HostileInput {
  /** What is hostile about it, or why it must be borne. */
  readonly why: string;
  /** Method and address. */
  readonly call: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is. */
  readonly raw?: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  readonly status: number;
  /** The `error_code`; none where the hostile part is ignored. */
  readonly code?: string;
  /** A field among those at fault. */
  readonly field?: string;
}

/** What the placeholders stand for. */
export interface Target {
  readonly id: number;
  /** Of a waitlist that asks "Why?" (free text, needed) and "How?" ("On foot" or "By bike"). */
  readonly asking: number;
  readonly key: string;
  readonly token: string;
  /** Of a person on the waitlist. */
  readonly waiter: number;
  readonly referral: string;
  /** A key of another owner. */
  readonly foreignKey: string;
}

const SIGNUP = '/api/v1/signup';
const WAITER = '/api/v1/waiter';
const WAITLIST = '/api/v1/waitlist';
const LOGIN = '/api/v1/auth/create_tokens';
const JSON_TYPE = { 'content-type': 'application/json' };
const OWNER = { authorization: 'Bearer {token}' };
const INVALID = { status: 400, code: 'INVALID_REQUEST' } as const;
const MALFORMED = { status: 400, code: 'MALFORMED_JSON', field: 'body' } as const;
const UNSUPPORTED = { status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' } as const;

type Value = readonly [value: unknown, why: string];

/** A signup that is sound but for one field. */
const signup = (field: string, values: readonly Value[]): HostileInput[] =>
  values.map(([value, why]) => ({
    why: `${field}: ${why}`,
    call: `POST ${SIGNUP}`,
    body: { waitlist_id: '{id}', email: 'hostile@example.com', [field]: value },
    ...INVALID,
    field,
  }));

/** A body of the owner that is sound but for one field. */
const owners = (call: string, sound: object, field: string, values: readonly Value[]): HostileInput[] =>
  values.map(([value, why]) => ({
    why: `${call}, ${field}: ${why}`,
    call,
    headers: OWNER,
    body: { ...sound, [field]: value },
    ...INVALID,
    field,
  }));

/** A query that is sound but for what follows it. */
const queries = (
  sound: string,
  headers: HostileInput['headers'],
  faults: readonly (readonly [query: string, field: string, why: string])[],
): HostileInput[] =>
  faults.map(([query, field, why]) => ({
    why: `${field}: ${why}`,
    call: `GET ${sound}${query}`,
    headers,
    ...INVALID,
    field,
  }));

const latin1 = (text: string) => Buffer.from(text, 'latin1');
const levels = (open: string, close: string, count: number) => open.repeat(count) + close.repeat(count);
/** JSON of a signup with this as an unknown field, which would be ignored. */
const beside = (json: string) => `{"waitlist_id":"{id}","email":"hostile@example.com","x":${json}}`;

const NOT_JSON: readonly (readonly [raw: string | Buffer, why: string])[] = [
  ['{', 'an object that does not end'],
  ['{"waitlist_id":1', 'a body that was cut off'],
  ['{"waitlist_id":1,}', 'a comma too many'],
  ["{'waitlist_id':1}", 'single quotes'],
  ['{waitlist_id:1}', 'a key without quotes'],
  ['{"waitlist_id":01}', 'a leading zero'],
  ['{"waitlist_id":+1}', 'a plus sign'],
  ['{"waitlist_id":0x1}', 'a hexadecimal number'],
  ['{"waitlist_id":.5}', 'a number without its zero'],
  ['{"waitlist_id":NaN}', 'NaN'],
  ['{"waitlist_id":Infinity}', 'Infinity'],
  ['{"waitlist_id":undefined}', 'undefined'],
  ['{"waitlist_id":True}', "another language's true"],
  ['{"waitlist_id":1}//', 'a comment'],
  ['{"waitlist_id":1/**/}', 'a comment inside'],
  ['{"waitlist_id":1}{"waitlist_id":2}', 'two documents'],
  ['{"waitlist_id":1}\u0000', 'NUL after the document'],
  ['{"email":"a\u0000b"}', 'a bare NUL in text'],
  ['{"email":"a\nb"}', 'a bare line break in text'],
  ['{"email":"\\x41"}', 'an escape that JSON does not have'],
  ['{"email":"\\u00"}', 'an escape that is too short'],
  ['{"email":"', 'a text that does not end'],
  [')]}\',\n{"waitlist_id":1}', "a guard against JSON's inclusion as a script"],
  ['waitlist_id=1&email=a@example.com', 'a form under the type of JSON'],
  ['<signup/>', 'XML under the type of JSON'],
  ['\u001b[2J', "a terminal's control sequence"],
  [latin1('{"email":"\xff"}'), 'a byte that UTF-8 never has'],
  [latin1('{"email":"\xc0\x80"}'), 'NUL in overlong UTF-8'],
  [latin1('{"email":"\xc0\xaf"}'), 'a slash in overlong UTF-8'],
  [latin1('{"email":"\xed\xa0\x80"}'), 'a surrogate in UTF-8'],
  [latin1('{"email":"\xed\xa0\xbd\xed\xb8\x80"}'), 'a pair of surrogates in UTF-8 (CESU-8)'],
  [latin1('{"email":"\xf4\x90\x80\x80"}'), 'beyond the last code point'],
  [latin1('{"email":"\xe2\x82"}'), 'a sequence of UTF-8 that is cut off'],
  [latin1('{"email":"\x80"}'), 'a continuation byte alone'],
  [latin1('{"email":"caf\xe9@example.com"}'), 'Latin-1'],
  [Buffer.from('\ufeff{"waitlist_id":1}', 'utf16le'), 'UTF-16'],
  [Buffer.from([0x1f, 0x8b, 0x08, 0, 0, 0, 0, 0]), 'gzip that does not say so'],
  ['{"__proto__":{"verified":true}}', '__proto__'],
  ['{"__proto__":null}', '__proto__ of nothing'],
  ['{"\\u005f_proto__":{"verified":true}}', '__proto__ behind an escape'],
  ['{"metadata":{"a":[{"__proto__":[]}]}}', '__proto__ deep inside'],
  ['{"constructor":{"prototype":{"verified":true}}}', 'constructor.prototype'],
  ['{"metadata":{"constructor":{"prototype":{}}}}', 'constructor.prototype deep inside'],
  [beside(levels('[', ']', 64)), 'lists of 65 levels in a field that would be ignored'],
  [beside(`${'{"a":'.repeat(64)}1${'}'.repeat(64)}`), 'objects of 65 levels'],
  [beside(levels('[', ']', 60_000)), 'lists of sixty thousand levels'],
  [beside(`${'{"a":'.repeat(40_000)}"\\":"${'}'.repeat(40_000)}`), 'forty thousand levels with what looks like a key'],
  [levels('[', ']', 100_000), 'a list of a hundred thousand levels'],
  [beside(`["\\ud83d\\ude00","\\":",${'[],'.repeat(20_000)}[]]`), 'more values than any body of the contract has'],
];

const reading: HostileInput[] = [
  ...NOT_JSON.map(([raw, why]) => ({ why, call: `POST ${SIGNUP}`, raw, headers: JSON_TYPE, ...MALFORMED })),
  ...[
    ['{"waitlist_id":"{id}","email":"\\ud800"}', 'email', 'a high surrogate alone'],
    ['{"waitlist_id":"{id}","email":"\\udc00@example.com"}', 'email', 'a low surrogate alone'],
    ['{"waitlist_id":"{id}","email":"\\udc00\\ud800@example.com"}', 'email', 'a pair the wrong way round'],
    ['{"waitlist_id":"{id}","metadata":{"a":["\\uD83D"]}}', 'metadata.a[0]', 'a surrogate alone deep inside'],
    ['{"waitlist_id":"{id}","metadata":{"\\ud83d":1}}', 'metadata', 'a surrogate alone in a key'],
    ['{"waitlist_id":"{id}","x":"\\ud800"}', 'x', 'a surrogate alone in a field that would be ignored'],
    ['null', 'body', 'null'],
    ['true', 'body', 'a boolean'],
    ['"text"', 'body', 'a text'],
    ['1e999', 'body', 'a number beyond any'],
    ['[]', 'body', 'a list'],
    ['[{"waitlist_id":"{id}","email":"a@example.com"}]', 'body', 'a list of one signup'],
    ['', 'body', 'nothing'],
    ['{}', 'waitlist_id', 'an empty object'],
  ].map(([raw, field, why]) => ({
    why: why!,
    call: `POST ${SIGNUP}`,
    raw: raw!,
    headers: JSON_TYPE,
    ...INVALID,
    field: field!,
  })),
  {
    why: 'more than a body may have',
    call: `POST ${SIGNUP}`,
    raw: `"${'x'.repeat(256 * 1024)}"`,
    headers: JSON_TYPE,
    status: 413,
    code: 'BODY_TOO_LARGE',
  },
  {
    why: 'more than an offboarding may have',
    call: `PATCH ${WAITER}`,
    raw: `"${'x'.repeat(1024 * 1024)}"`,
    headers: { ...JSON_TYPE, ...OWNER },
    status: 413,
    code: 'BODY_TOO_LARGE',
  },
  {
    why: 'more than a login may have',
    call: `POST ${LOGIN}`,
    raw: `"${'x'.repeat(256 * 1024)}"`,
    headers: JSON_TYPE,
    status: 413,
    code: 'BODY_TOO_LARGE',
  },
];

const SOUND_RAW = '{"waitlist_id":"{id}","email":"hostile@example.com"}';
const media: HostileInput[] = [
  ...[
    'text/plain',
    'text/json',
    'text/html',
    'application/xml',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/octet-stream',
    'application/jsonx',
    'application/json-seq',
    'application/ld+json',
    'application/merge-patch+json',
    'application/problem+json',
    'application/json, text/plain',
    'application/*',
    '*/*',
    'json',
    'application/json; charset=utf-16',
    'application/json; charset=iso-8859-1',
    'application/json;charset="windows-1252"',
    'application/json; charset=us-ascii',
    'application/json; charset=utf-7',
    'application/json; charset=utf-8; charset=utf-16',
    'application/json; v=1; charset=utf-16le',
  ].map((type) => ({
    why: `a body of the type ${type}`,
    call: `POST ${SIGNUP}`,
    raw: SOUND_RAW,
    headers: { 'content-type': type },
    ...UNSUPPORTED,
  })),
  ...['gzip', 'GZIP', 'x-gzip', 'deflate', 'br', 'zstd', 'compress', 'gzip, identity', 'identity, gzip', 'x'].map(
    (coding) => ({
      why: `a body in the coding ${coding}`,
      call: `POST ${SIGNUP}`,
      raw: SOUND_RAW,
      headers: { ...JSON_TYPE, 'content-encoding': coding },
      ...UNSUPPORTED,
    }),
  ),
  {
    why: 'a compressed list of ids from an owner',
    call: `PATCH ${WAITER}`,
    raw: '{"api_key":"{key}","offboard_request":true,"waiters":[{"id":"{waiter}"}]}',
    headers: { ...JSON_TYPE, ...OWNER, 'content-encoding': 'gzip' },
    ...UNSUPPORTED,
  },
  {
    why: 'a form that logs in',
    call: `POST ${LOGIN}`,
    raw: 'email=a@example.com&password=x',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    ...UNSUPPORTED,
  },
];

const NO_TEXT: readonly Value[] = [
  [5, 'a number'],
  [true, 'a boolean'],
  [['hostile@example.com'], 'a list where one text belongs'],
  [{ $ne: null }, 'an operator of another database'],
  [{ toString: 'x' }, 'an object that pretends to be text'],
];
const CONTROLS: readonly Value[] = [
  ['+1415555\u00000123', 'NUL'],
  ['+1415555\u000a0123', 'a line break'],
  ['+1415555\u001b[31m', "a terminal's control sequence"],
  ['+1415555\u007f0123', 'DEL'],
  ['+1415555\u00850123', 'a control character beyond ASCII'],
];
const IDS_THAT_ARE_NONE: readonly Value[] = [
  [0, 'below the first'],
  [-1, 'negative'],
  [1.5, 'a fraction'],
  [1e300, 'larger than any id'],
  [9007199254740992, 'one more than a number holds exactly'],
  [null, 'null'],
  [true, 'a boolean, which some languages count as 1'],
  [[1], 'a list of one id'],
  [{ id: 1 }, 'an object'],
];

const signups: HostileInput[] = [
  // test/http/signup.spec.ts has the plainer ones.
  ...signup('waitlist_id', [
    ['1 OR 1=1', 'SQL'],
    ["1'; DROP TABLE waiter; --", 'SQL that would end the table'],
    ['+1', 'a signed number'],
    ['1\u0000', 'NUL after a number'],
    ['\u0661', 'a digit of another script'],
    ['9'.repeat(400), 'text of four hundred digits'],
  ]),
  ...signup('email', [
    ...NO_TEXT,
    ...CONTROLS,
    ['nobody', 'no at sign'],
    ['@example.com', 'no local part'],
    ['ada@', 'no domain'],
    ['ada@localhost', 'a domain of one label'],
    ['ada@127.0.0.1', 'an address for a domain'],
    ['ada@[127.0.0.1]', 'an address in brackets'],
    ['ada@exa mple.com', 'a space inside'],
    ['ada@example.com, bob@example.com', 'two addresses'],
    ['Ada <ada@example.com>', 'a name beside the address'],
    ['"ada"@example.com', 'a quoted local part'],
    ['ada@-example.com', 'a label that begins with a hyphen'],
    ['ada@example..com', 'an empty label'],
    ['ada@@example.com', 'two at signs in a row'],
    ['ada@example.com/../admin', 'a path after the domain'],
    ['ada@example.com?x=1', 'a query after the domain'],
    ['ada@exa%6dple.com', 'percent-encoding in the domain'],
    ['ada@example.com\r\nBcc: all@example.com', 'another header of a mail'],
    [`${'a'.repeat(65)}@example.com`, 'a local part that no mail server takes'],
    [`ada@${'b'.repeat(64)}.com`, 'a label that no name server takes'],
    [`${'a'.repeat(243)}@example.com`, '255 characters'],
    ['a'.repeat(100_000), 'a hundred thousand characters'],
    [`${'a@'.repeat(100)}example.com`, 'a hundred at signs'],
    ["' OR '1'='1", 'SQL'],
    ['<script>alert(1)</script>@example.com', 'markup'],
  ]),
  ...signup('phone', [
    ...NO_TEXT,
    ...CONTROLS,
    ['call me', 'words'],
    ['5550123', 'no country, on a waitlist without a region'],
    ['+', 'a plus sign'],
    ['+1415', 'too few digits'],
    ['+1415555012345678', 'too many digits'],
    ['+999123456789', 'no country of this world'],
    ['call +14155550123 tonight', 'a number within text'],
    ['+1415555012x', 'a letter in a number'],
    [`+${'1'.repeat(32)}`, '33 characters'],
    ["+1' OR 1=1 --", 'SQL'],
  ]),
  ...signup('first_name', [...NO_TEXT, ...CONTROLS, ['x'.repeat(101), '101 characters']]),
  ...signup('last_name', [...NO_TEXT, ...CONTROLS, ['😀'.repeat(101), '101 characters beyond the first plane']]),
  ...signup('referral_link', [...NO_TEXT, ['x'.repeat(2049), '2,049 characters']]),
  ...signup('metadata', [
    ['text', 'a text'],
    [5, 'a number'],
    [true, 'a boolean'],
    [[], 'a list'],
    [[{ a: 1 }], 'a list of objects'],
    [{ a: 'x'.repeat(16 * 1024) }, 'more than 16 KiB'],
    [{ ['k'.repeat(16 * 1024)]: 1 }, 'a key of more than 16 KiB'],
    [{ a: 'é'.repeat(8 * 1024) }, '16 KiB of characters, more in bytes'],
    [{ a: Array(9000).fill(0) }, 'a list of nine thousand'],
    [{ a: [[[[[[[[]]]]]]]] }, 'nine levels'],
    [{ a: 'x\u0000' }, 'NUL'],
    [{ 'a\u0000': 1 }, 'NUL in a key'],
    [{ a: '\\\u0000' }, 'NUL behind a backslash'],
  ]),
];

const answering: HostileInput[] = (
  [
    [undefined, 'answers', 'none'],
    ['Because', 'answers', 'a text'],
    [{ question_value: 'Why?', answer_value: 'Because' }, 'answers', 'an object where a list belongs'],
    [[null], 'answers[0].question_value', 'an item that is null'],
    [['Why?'], 'answers[0].question_value', 'an item that is text'],
    [[[]], 'answers[0].question_value', 'an item that is a list'],
    [[{ question_value: 'why?', answer_value: 'x' }], 'answers[0].question_value', 'a question in other letters'],
    [[{ question_value: 'Why? ', answer_value: 'x' }], 'answers[0].question_value', 'a question with a space after it'],
    [[{ question_value: 'Ｗhy?', answer_value: 'x' }], 'answers[0].question_value', 'a question in other letters of the same look'],
    [[{ question_value: { $gt: '' }, answer_value: 'x' }], 'answers[0].question_value', 'an operator of another database'],
    [[{ question_value: '__proto__', answer_value: 'x' }], 'answers[0].question_value', 'the name of a prototype'],
    [[{ question_value: 'Why?', answer_value: { a: 1 } }], 'answers[0].answer_value', 'an object for a text'],
    [[{ question_value: 'Why?', answer_value: ['x'] }], 'answers[0].answer_value', 'a list for a text'],
    [[{ question_value: 'Why?', answer_value: 'x'.repeat(4001) }], 'answers[0].answer_value', '4,001 characters'],
    [[{ question_value: 'Why?', answer_value: 'x' }, { question_value: 'How?', answer_value: 'By car' }], 'answers[1].answer_value', 'an option that is none'],
    [[{ question_value: 'Why?', answer_value: 'x' }, { question_value: 'How?', answer_value: ['On foot', 'On foot'] }], 'answers[1].answer_value', 'an option twice'],
    [[{ question_value: 'Why?', answer_value: 'x' }, { question_value: 'Why?', answer_value: 'y' }], 'answers[1].question_value', 'a question answered twice'],
    [Array(15_000).fill(0), 'answers[0].question_value', 'fifteen thousand items'],
  ] as const
).map(([answers, field, why]) => ({
  why: `answers: ${why}`,
  call: `POST ${SIGNUP}`,
  body: { waitlist_id: '{asking}', email: 'hostile@example.com', answers },
  status: 422,
  code: 'WAITLIST_RULE_BROKEN',
  field,
})); // prettier-ignore

const lookups: HostileInput[] = [
  ...queries(`${SIGNUP}?email=a@example.com`, undefined, [
    ['', 'waitlist_id', 'left out'],
    ['&waitlist_id=', 'waitlist_id', 'empty'],
    ['&waitlist_id=0', 'waitlist_id', 'below the first'],
    ['&waitlist_id=-1', 'waitlist_id', 'negative'],
    ['&waitlist_id=1.0', 'waitlist_id', 'a fraction'],
    ['&waitlist_id=1e0', 'waitlist_id', 'scientific notation'],
    ['&waitlist_id=0x1', 'waitlist_id', 'hexadecimal'],
    ['&waitlist_id=+1', 'waitlist_id', 'a space before the number'],
    ['&waitlist_id=1%00', 'waitlist_id', 'NUL after the number'],
    ['&waitlist_id=%D9%A1', 'waitlist_id', 'a digit of another script'],
    ['&waitlist_id=1%20OR%201=1', 'waitlist_id', 'SQL'],
    ['&waitlist_id=9007199254740992', 'waitlist_id', 'one more than a number holds exactly'],
    ['&waitlist_id={id}&waitlist_id=1', 'waitlist_id', 'given twice: a proxy may see the other'],
    ['&waitlist_id={id}&waitlist_id={id}', 'waitlist_id', 'the same twice'],
    ['&waitlist_id[]={id}', 'waitlist_id', "another framework's list"],
    ['&waitlist_id[$gt]=0', 'waitlist_id', 'an operator of another database'],
    ['&waitlist_id=true', 'waitlist_id', 'a boolean'],
    ['&WAITLIST_ID={id}', 'waitlist_id', 'a name in capitals, which is another name'],
    ['&waitlist_id={id};email=b@example.com', 'waitlist_id', 'a semicolon is no separator'],
    ['&waitlist_id=%zz', 'waitlist_id', 'a broken escape'],
  ]),
  ...queries(`${SIGNUP}?waitlist_id={id}`, undefined, [
    ['', 'email', 'neither email nor phone'],
    ['&email=', 'email', 'empty'],
    ['&email=%20', 'email', 'white space'],
    ['&email=a@example.com&email=b@example.com', 'email', 'given twice'],
    ['&email[]=a@example.com', 'email', "another framework's list, so that none is given"],
    ['&email=a%00@example.com', 'email', 'NUL'],
    ['&email=a%0d%0aSet-Cookie:x=1@example.com', 'email', 'a header of its own'],
    ['&email=%ff@example.com', 'email', 'a byte that UTF-8 never has'],
    ['&email=%C0%80@example.com', 'email', 'NUL in overlong UTF-8'],
    ['&email=%ED%A0%80@example.com', 'email', 'a surrogate in UTF-8'],
    ['&email=%E2%82@example.com', 'email', 'a sequence of UTF-8 that is cut off'],
    ['&email=ada@example.com%', 'email', 'a percent sign alone'],
    ['&email=%u0061da@example.com', 'email', 'an escape of old scripts'],
    ['&x=%ff&email=a@example.com', 'x', 'no UTF-8 in a parameter that would be ignored'],
    ['&%ff=1&email=a@example.com', '%ff', 'no UTF-8 in the name of a parameter'],
    ['&email=a@example.com&x=?%ff', 'x', 'no UTF-8 after a second question mark'],
    [`&email=${'a'.repeat(300)}`, 'email', 'too long'],
    ['&email=nobody', 'email', 'no address'],
    ['&phone=+1415555%000123', 'phone', 'NUL'],
    ['&phone=5550123', 'phone', 'no country'],
    ['&phone=%2B14155550123&phone=%2B14155550124', 'phone', 'given twice'],
    [`&phone=${'1'.repeat(33)}`, 'phone', 'too long'],
  ]),
  ...(
    [
      ["email='%20OR%20'1'='1'--@example.com", 'SQL before the at sign'],
      ['email=%25@example.com', "SQL's sign for anything"],
      ['email=_____@example.com', "SQL's sign for any character"],
      ['email=known%E2%80%8B@example.com', 'an invisible character'],
      ['email=kn%C3%B6wn@example.com', 'an accent'],
      ['email=%EF%BD%8Bnown@example.com', 'a letter of another width'],
    ] as const
  ).map(([query, why]) => ({
    why: `email: ${why} matches nobody else`,
    call: `GET ${SIGNUP}?waitlist_id={id}&${query}`,
    status: 404,
    code: 'NO_WAITER_FOUND',
  })),
];

const logins: HostileInput[] = [
  ...(['email', 'password'] as const).flatMap((field) =>
    ([...NO_TEXT, ['', 'empty'], [null, 'null'], ['x'.repeat(257), 'too long']] as readonly Value[]).map(
      ([value, why]) => ({
        why: `login, ${field}: ${why}`,
        call: `POST ${LOGIN}`,
        body: { ...CREDENTIALS, [field]: value },
        ...INVALID,
        field,
      }),
    ),
  ),
  ...(
    [
      [{ email: "' OR '1'='1", password: "' OR '1'='1" }, 'SQL'],
      [{ email: 'nobody@example.com', password: 'x\u0000' }, 'NUL in a password'],
      [{ email: 'a\u0000@example.com', password: 'x' }, 'NUL in an email'],
      [{ email: 'nobody@example.com', password: 'x', otp: true, is_admin: true }, 'fields that nobody knows'],
    ] as const
  ).map(([body, why]) => ({
    why: `login: ${why}`,
    call: `POST ${LOGIN}`,
    body,
    status: 401,
    code: 'WRONG_CREDENTIALS',
  })),
];

const listing: HostileInput[] = [
  ...queries(`${WAITER}?api_key={key}`, OWNER, [
    ['&offset=-1', 'offset', 'negative'],
    ['&offset=1.5', 'offset', 'a fraction'],
    ['&offset=', 'offset', 'empty'],
    ['&offset=1e3', 'offset', 'scientific notation'],
    ['&offset=0;DROP%20TABLE%20waiter', 'offset', 'SQL'],
    ['&offset=9007199254740992', 'offset', 'one more than a number holds exactly'],
    [`&offset=${'9'.repeat(100)}`, 'offset', 'a hundred digits'],
    ['&offset=1&offset=2', 'offset', 'given twice'],
    ['&limit=0', 'limit', 'none at all'],
    ['&limit=101', 'limit', 'more than a page'],
    ['&limit=-5', 'limit', 'negative'],
    ['&limit=100%00', 'limit', 'NUL'],
    ['&limit=1&limit=100', 'limit', 'given twice'],
    ['&after_id=0', 'after_id', 'below the first'],
    ['&after_id=x', 'after_id', 'letters'],
    ['&order=rank_key', 'order', 'a column of ours'],
    ['&order=joined,(select%201)', 'order', 'SQL'],
    ['&order=joined&order=queue', 'order', 'given twice'],
    ['&questions_request=yes', 'questions_request', 'no boolean'],
    ['&offboarded_request=2', 'offboarded_request', 'a number that is no boolean'],
    ['&offboarded_request=', 'offboarded_request', 'empty'],
    ['&referral_token=a&referral_token=b', 'referral_token', 'given twice'],
    [`&referral_token=${'A'.repeat(65)}`, 'referral_token', 'too long'],
    ['&referral_token=%ff', 'referral_token', 'no UTF-8'],
    ['&offset=%zz', 'offset', 'a broken escape'],
  ]),
  ...(
    [
      ['api_key={key}&api_key={foreignKey}', INVALID, 'given twice'],
      ['', INVALID, 'left out'],
      ['api_key=', INVALID, 'empty'],
      ['api_key[]={key}', INVALID, "another framework's list"],
      ['api_key={foreignKey}', { status: 403, code: 'WRONG_API_KEY' }, "another owner's"],
      ['api_key={key}%20', { status: 403, code: 'WRONG_API_KEY' }, 'a space after it'],
      ['api_key={key}%00', { status: 403, code: 'WRONG_API_KEY' }, 'NUL after it'],
      ["api_key='%20OR%20''='", { status: 403, code: 'WRONG_API_KEY' }, 'SQL'],
      ['api_key=%25', { status: 403, code: 'WRONG_API_KEY' }, "SQL's sign for anything"],
      [`api_key=${'a'.repeat(5000)}`, { status: 403, code: 'WRONG_API_KEY' }, 'five thousand characters'],
    ] as const
  ).map(([query, expected, why]) => ({
    why: `api_key: ${why}`,
    call: `GET ${WAITER}?${query}`,
    headers: OWNER,
    ...expected,
  })),
  ...(
    [
      ['{referral}%20', 'with a space after it'],
      ['{referral}%00', 'with NUL after it'],
      ['%20{referral}', 'with a space before it'],
      ["'%20OR%201=1", 'that is SQL'],
      ['%25', "that is SQL's sign for anything"],
      ['%C3%A9', 'beyond ASCII'],
      ['%F0%9F%98%80', 'beyond the first plane'],
      ['__proto__', 'that names a prototype'],
    ] as const
  ).map(([token, why]) => ({
    why: `referral_token: one ${why} is nobody's`,
    call: `GET ${WAITER}?api_key={key}&referral_token=${token}`,
    headers: OWNER,
    status: 200,
  })),
];

const OFFBOARDING = { api_key: '{key}', offboard_request: true, waiters: [{ id: '{waiter}' }] };
const offboarding: HostileInput[] = [
  ...owners(`PATCH ${WAITER}`, OFFBOARDING, 'offboard_request', [
    [false, 'false'],
    ['true', 'text'],
    [1, 'a number'],
    [[true], 'a list'],
    [null, 'null'],
  ]),
  ...owners(`PATCH ${WAITER}`, OFFBOARDING, 'waiters', [
    [null, 'null'],
    ['all', 'text'],
    [{ id: 1 }, 'an object where a list belongs'],
    [[], 'an empty list'],
    [Array(1001).fill({ id: 1 }), 'more than a call may hold'],
  ]),
  ...([...IDS_THAT_ARE_NONE, ['1', 'text'], ['1 OR 1=1', 'SQL']] as readonly Value[]).map(([id, why]) => ({
    why: `waiters[1].id: ${why}`,
    call: `PATCH ${WAITER}`,
    headers: OWNER,
    body: { ...OFFBOARDING, waiters: [{ id: '{waiter}' }, { id }] },
    ...INVALID,
    field: 'waiters[1].id',
  })),
  ...([[null, 'null'], [1, 'a number'], [[1], 'a list'], [{}, 'nothing in it']] as readonly Value[]).map(([item, why]) => ({
    why: `waiters[0]: ${why}`,
    call: `PATCH ${WAITER}`,
    headers: OWNER,
    body: { ...OFFBOARDING, waiters: [item] },
    ...INVALID,
    field: why === 'nothing in it' ? 'waiters[0].id' : 'waiters[0]',
  })),
  ...owners(`PATCH ${WAITER}`, OFFBOARDING, 'api_key', [
    ['', 'empty'],
    [5, 'a number'],
    [['{key}'], 'a list'],
    [{ $ne: '' }, 'an operator of another database'],
  ]),
  {
    why: "another owner's key in the body, one's own in the address",
    call: `PATCH ${WAITER}?api_key={key}`,
    headers: OWNER,
    body: { ...OFFBOARDING, api_key: '{foreignKey}' },
    status: 403,
    code: 'WRONG_API_KEY',
  },
]; // prettier-ignore

const SETTINGS = { waitlist_name: 'Hostile', waitlist_url_location: 'https://example.com/' };
const SETTING_FAULTS: readonly (readonly [field: string, values: readonly Value[]])[] = [
  ['waitlist_name', [...NO_TEXT, ...CONTROLS, ['', 'empty'], [null, 'null'], ['x'.repeat(201), '201 characters']]],
  [
    'waitlist_url_location',
    [
      ...NO_TEXT,
      ['', 'empty'],
      ['example.com', 'no scheme'],
      ['/join', 'a path'],
      ['javascript:alert(1)', 'a script'],
      ['data:text/html,x', 'a document'],
      ['file:///etc/passwd', 'a file'],
      ['ftp://example.com/', 'another scheme'],
      ['https://', 'no host'],
      ['https://exa mple.com/', 'a space in the host'],
      ['java\u0000script:alert(1)', 'NUL'],
      ['https://example.com/\r\nSet-Cookie: x=1', 'a header of its own'],
      ['https://example.com/\u0000', 'NUL in the path'],
      [`https://example.com/${'x'.repeat(2048)}`, 'too long'],
    ],
  ],
  [
    'spots_to_move_upon_referral',
    [[-1, 'negative'], [10_001, 'more than allowed'], [1.5, 'a fraction'], ['3', 'text'], [null, 'null'], [true, 'a boolean'], [[3], 'a list'], [1e308, 'a number beyond any']],
  ],
  ['default_region', [['USA', 'three letters'], ['us', 'small letters'], ['XX', 'no country'], ['U\u0000', 'NUL'], [1, 'a number'], [['US'], 'a list']]],
  ['required_contact', [['required', 'text'], [[], 'a list'], [null, 'null'], [{ email: 'off', phone: 'off' }, 'nothing to find a person by']]],
  ['required_contact.email', [[true, 'a boolean'], ['REQUIRED', 'capitals'], [null, 'null'], [['required'], 'a list']]],
  ['questions', [['Why?', 'text'], [{}, 'an object'], [null, 'null'], [Array(4).fill({ question_value: 'Why?' }), 'four of them'], [Array(2).fill({ question_value: 'Why?' }), 'the same twice']]],
  ['questions[0]', [[null, 'null'], ['Why?', 'text'], [5, 'a number']]],
  ['questions[0].question_value', [[5, 'a number'], ['', 'empty'], ['Wh\u0000y?', 'NUL'], ['Why?\u001b[2J', "a terminal's control sequence"], ['x'.repeat(501), '501 characters']]],
  ['questions[0].optional', [['true', 'text'], [1, 'a number'], [null, 'null']]],
  ['questions[0].answer_value', [['a', 'text'], [{}, 'an object'], [[], 'no option'], [['a', 'a'], 'an option twice'], [Array.from({ length: 101 }, String), '101 options']]],
  ['questions[0].answer_value[0]', [[5, 'a number'], ['', 'empty'], ['a\u0000', 'NUL']]],
]; // prettier-ignore

/** `a[0].b` holding a value, with what is needed beside it. */
function settingsWith(field: string, value: unknown): object {
  const [name, inner] = field.split(/\[0\]\.|\.|\[0\]$/, 2);
  if (name === 'required_contact' && inner) return { required_contact: { [inner]: value } };
  if (name !== 'questions' || field === 'questions') return { [field]: value };
  if (!inner) return { questions: [value] };
  const isOption = field.endsWith('answer_value[0]');
  return { questions: [{ question_value: 'Why?', [inner]: isOption ? [value] : value }] };
}

const waitlists: HostileInput[] = [
  ...[`POST ${WAITLIST}`, `PATCH ${WAITLIST}/{id}`].flatMap((call) =>
    SETTING_FAULTS.flatMap(([field, values]) =>
      values.map(([value, why]) => ({
        why: `${call.split(' ', 1)[0]} of a waitlist, ${field}: ${why}`,
        call,
        headers: OWNER,
        body: { ...(call.startsWith('POST') && SETTINGS), ...settingsWith(field, value) },
        ...INVALID,
        field,
      })),
    ),
  ),
  ...['0', '-1', '1.5', '01', 'abc', '1e3', '%2B1', '1%20', '1%00', '%D9%A1', '9007199254740992', "1'--", '{id};x'].map(
    (id) => ({
      why: `${id} is no id of a waitlist`,
      call: `GET ${WAITLIST}/${id}`,
      ...INVALID,
      field: 'waitlist_id',
    }),
  ),
];

const addresses: HostileInput[] = [
  ...(
    [
      ['GET /.env', 'a file of secrets'],
      ['GET /.git/config', 'a repository'],
      ['GET /data/waitlist.sqlite', 'the embedded database'],
      ['GET /data/jwt-secret', 'the secret'],
      ['GET /package.json', 'versions'],
      ['GET /docs/assets/package.json', 'versions, beside the documentation'],
      ['GET /docs/assets/..%2f..%2fpackage.json', 'a way out of the documentation'],
      ['GET /docs/assets/%2e%2e/%2e%2e/package.json', 'dots behind escapes'],
      ['GET /docs/assets/..%5c..%5cpackage.json', 'backslashes'],
      ['GET /docs/assets/swagger-ui.css%00.html', 'NUL in the name of a file'],
      ['GET /api/v1/signup/..%2fwaiter', 'a way around a guard'],
      ['GET /api/v1/admin', 'an operation that is none'],
      ['GET /api/v0/waiter', 'an older version'],
      ['GET /server-status', "another server's page"],
      ['GET /debug/pprof', "another language's page"],
      ['GET /actuator/env', "another framework's page"],
      ['POST /graphql', 'another kind of interface'],
    ] as const
  ).map(([call, why]) => ({ why, call, status: 404, code: 'NOT_FOUND' })),
  ...(['GET /%', 'GET /%ff', 'GET /api/v1/%C0%AE%C0%AE/', 'GET /api/v1/signup%'] as const).map((call) => ({
    why: `${call} is no percent-encoded UTF-8`,
    call,
    status: 400,
    code: 'MALFORMED_REQUEST',
  })),
  ...(['PUT', 'DELETE', 'HEAD'] as const).map((method) => ({
    why: `${method} is not for signups`,
    call: `${method} ${SIGNUP}`,
    status: 405,
    code: 'METHOD_NOT_ALLOWED',
  })),
  {
    why: 'a header cannot make another method of this one',
    call: `GET ${SIGNUP}?waitlist_id={id}&email=nobody@example.com`,
    headers: { 'x-http-method-override': 'DELETE' },
    status: 404,
    code: 'NO_WAITER_FOUND',
  },
  {
    why: 'a parameter cannot make another method of this one',
    call: `GET ${SIGNUP}?waitlist_id={id}&email=nobody@example.com&_method=POST`,
    status: 404,
    code: 'NO_WAITER_FOUND',
  },
  {
    why: 'a token in the address is none',
    call: `GET ${WAITER}?api_key={key}&access_token={token}`,
    status: 401,
    code: 'MISSING_TOKEN',
  },
  {
    why: 'a token in a cookie is none',
    call: `GET ${WAITER}?api_key={key}`,
    headers: { cookie: 'access_token={token}' },
    status: 401,
    code: 'MISSING_TOKEN',
  },
];

/** Each row of these leaves everything as it was. */
export const REFUSED: readonly HostileInput[] = [
  ...reading,
  ...media,
  ...signups,
  ...answering,
  ...lookups,
  ...logins,
  ...listing,
  ...offboarding,
  ...waitlists,
  ...addresses,
];
