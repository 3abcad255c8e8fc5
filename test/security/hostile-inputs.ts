import { OWNER as CREDENTIALS } from '../support/service-process.js';

/**
 * A hostile request and its expected answer. `{id}`, `{key}`, `{token}` and the other names of {@link Target} stand for
 * those of an owner's waitlist; `"{id}"` in JSON becomes the number.
 */
export interface HostileInput {
  readonly why: string;
  /** Method and address. */
  readonly call: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent unchanged. */
  readonly raw?: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  readonly status: number;
  /** The `error_code`; none if the hostile part is ignored. */
  readonly code?: string;
  /** One of the fields in `errors`. */
  readonly field?: string;
}

/** The values of the placeholders. */
export interface Target {
  readonly id: number;
  /** A waitlist with the questions "Why?" (free text, required) and "How?" ("On foot" or "By bike"). */
  readonly asking: number;
  readonly key: string;
  readonly token: string;
  /** A person on the waitlist. */
  readonly waiter: number;
  readonly uuid: string;
  readonly referral: string;
  /** A key of another owner. */
  readonly foreignKey: string;
}

type Expected = Pick<HostileInput, 'headers' | 'status' | 'code' | 'field'>;
/** The keys are the reasons why the values are refused. */
type Faults = Readonly<Record<string, readonly unknown[]>>;
type Fields = Readonly<Record<string, Faults>>;

const SIGNUP = '/api/v1/signup';
const WAITER = '/api/v1/waiter';
const WAITLIST = '/api/v1/waitlist';
const LOGIN = '/api/v1/auth/create_tokens';
const NEW_PASSWORD = '/api/v1/auth/password';
const JSON_TYPE = { 'content-type': 'application/json' };
const OWNER = { authorization: 'Bearer {token}' };
const INVALID = { status: 400, code: 'INVALID_REQUEST' };
const MALFORMED = { status: 400, code: 'MALFORMED_JSON', field: 'body' };
const UNSUPPORTED = { status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' };
const TOO_LARGE = { status: 413, code: 'BODY_TOO_LARGE' };
const WRONG_KEY = { status: 403, code: 'WRONG_API_KEY' };
const NOBODY_FOUND = { status: 404, code: 'NO_WAITER_FOUND' };
const NO_TOKEN = { status: 401, code: 'MISSING_TOKEN' };

const SHOWN_MAX = 60;

/** A request for each value. */
function each<Value>(
  faults: Readonly<Record<string, readonly Value[]>>,
  toInput: (value: Value, why: string) => Omit<HostileInput, 'why'>,
): HostileInput[] {
  return Object.entries(faults).flatMap(([why, values]) =>
    values.map((value) => {
      const input = toInput(value, why);
      const place = `${input.call.slice(0, SHOWN_MAX)} ${input.field ?? ''}`;
      return { ...input, why: `${place}, ${why}: ${String(JSON.stringify(value)).slice(0, SHOWN_MAX)}` };
    }),
  );
}

/** A copy of `sound` with `value` at a path such as `questions[0].optional`. */
function holding(sound: object, path: string, value: unknown): object {
  const copy = structuredClone(sound);
  const keys = path.match(/[\w-]+/g)!;
  const last = keys.pop()!;
  const parent = keys.reduce<object>((inner, key) => Reflect.get(inner, key) as object, copy);
  Reflect.set(parent, last, value);
  return copy;
}

/** Bodies that are sound but for one field. */
const bodies = (call: string, sound: object, fields: Fields, expected: Expected): HostileInput[] =>
  Object.entries(fields).flatMap(([field, faults]) =>
    each(faults, (value) => ({ call, body: holding(sound, field, value), field, ...expected })),
  );

/** The sound values of parameters that are no numbers. */
const SOUND: Readonly<Record<string, string>> = {
  email: 'ada@example.com',
  phone: '%2B14155550123',
  status: 'offered',
  order: 'joined',
  questions_request: 'true',
  offboarded_request: 'true',
  include_referrer: 'true',
  from: '2026-11-01',
};

/** Queries that are sound but for one parameter, which is also given twice. Values are percent-encoded already. */
const queries = (sound: string, fields: Fields, headers?: HostileInput['headers']): HostileInput[] =>
  Object.entries(fields).flatMap(([field, faults]) => {
    const { [field]: value = '1' } = SOUND;
    return each({ ...faults, 'given twice': [`${value}&${field}=${value}`] }, (query) => ({
      call: `GET ${sound}&${field}=${String(query)}`,
      headers,
      ...INVALID,
      field,
    }));
  });

/** Values of each JSON type; some become sound if they are converted carelessly. */
const OF_TYPE: Readonly<Record<string, readonly unknown[]>> = {
  text: ['true', '1'],
  number: [1, 1.5],
  boolean: [true],
  null: [null],
  list: [[], [1], [true], ['text'], [{ id: 1 }]],
  object: [{}, { $ne: null }, { toString: 'x' }],
};
/** Every JSON type but the accepted ones. */
function wrongType(...accepted: ('text' | 'number' | 'boolean' | 'null' | 'list' | 'object')[]): Faults {
  const refused = Object.entries(OF_TYPE).filter(([type]) => !(accepted as string[]).includes(type));
  return { 'wrong type': refused.flatMap(([, values]) => values) };
}
const NULLABLE_TEXT = wrongType('text', 'null');
const TEXT = { ...wrongType('text'), empty: [''] };
/** A sound value in a list, and with control characters in it. */
const disguised = (sound: string): Faults => ({
  'a list of one': [[sound]],
  'control character': ['\u0000', '\n', '\u001b[31m', '\u007f', '\u0085'].map(
    (control) => `${sound.slice(0, 4)}${control}${sound.slice(4)}`,
  ),
});
const longerThan = (max: number): Faults => ({ 'too long': ['x'.repeat(max + 1), '😀'.repeat(max + 1)] });
const SQL = ['1 OR 1=1', "1'; DROP TABLE waiter; --"];
const NO_ID: Faults = { 'no id': [0, -1, 1.5, 1e300, 9007199254740992] };

const latin1 = (text: string) => Buffer.from(text, 'latin1');
const levels = (open: string, close: string, count: number) => open.repeat(count) + close.repeat(count);
/** JSON of a signup with an unknown field, which would be ignored. */
const beside = (json: string) => `{"waitlist_id":"{id}","email":"hostile@example.com","x":${json}}`;

const NOT_JSON: Readonly<Record<string, readonly (string | Buffer)[]>> = {
  'incomplete JSON': ['{', '{"waitlist_id":1', '{"email":"'],
  'JavaScript, not JSON': ['{"waitlist_id":1,}', "{'waitlist_id':1}", '{waitlist_id:1}', '{"waitlist_id":undefined}'],
  'a number that JSON does not have': ['01', '+1', '0x1', '.5', 'NaN', 'Infinity'].map(
    (one) => `{"waitlist_id":${one}}`,
  ),
  'a literal of Python': ['{"waitlist_id":True}'],
  'a comment': ['{"waitlist_id":1}//', '{"waitlist_id":1/**/}'],
  'more than one document': ['{"waitlist_id":1}{"waitlist_id":2}', '{"waitlist_id":1}\u0000'],
  'a bare control character in text': ['{"email":"a\u0000b"}', '{"email":"a\nb"}'],
  'an escape that JSON does not have': ['{"email":"\\x41"}', '{"email":"\\u00"}'],
  'a prefix against script inclusion': [')]}\',\n{"waitlist_id":1}'],
  'another format': ['waitlist_id=1&email=a@example.com', '<signup/>', '\u001b[2J', Buffer.from([0x1f, 0x8b, 8, 0])],
  'a byte that UTF-8 never has': [latin1('{"email":"\xff"}'), latin1('{"email":"caf\xe9@example.com"}')],
  'overlong UTF-8': [latin1('{"email":"\xc0\x80"}'), latin1('{"email":"\xc0\xaf"}')],
  'a surrogate in UTF-8': [latin1('{"email":"\xed\xa0\x80"}'), latin1('{"email":"\xed\xa0\xbd\xed\xb8\x80"}')],
  'beyond the last code point': [latin1('{"email":"\xf4\x90\x80\x80"}')],
  'a part of a UTF-8 sequence': [latin1('{"email":"\xe2\x82"}'), latin1('{"email":"\x80"}')],
  'UTF-16': [Buffer.from('\ufeff{"waitlist_id":1}', 'utf16le')],
  'the key __proto__': ['{"__proto__":{"verified":true}}', '{"__proto__":null}', '{"\\u005f_proto__":{"x":true}}'],
  'constructor.prototype': ['{"constructor":{"prototype":{"verified":true}}}'],
  'a prototype deep inside': ['{"metadata":{"a":[{"__proto__":[]}]}}', '{"metadata":{"constructor":{"prototype":{}}}}'],
  'more than 64 lists in an ignored field': [beside(levels('[', ']', 64)), beside(levels('[', ']', 60_000))],
  'more than 64 objects in an ignored field': [64, 40_000].map((count) =>
    beside(`${'{"a":'.repeat(count)}"\\":"${'}'.repeat(count)}`),
  ),
  'a hundred thousand levels': [levels('[', ']', 100_000)],
  'more values than any body may have': [beside(`["\\ud83d\\ude00","\\":",${'[],'.repeat(20_000)}[]]`)],
};

/** Valid JSON with a lone surrogate, or of another shape than a signup. The keys are the fields in `errors`. */
const REFUSED_JSON = {
  email: ['\\ud800', '\\udc00@example.com', '\\udc00\\ud800@example.com'].map(
    (email) => `{"waitlist_id":"{id}","email":"${email}"}`,
  ),
  'metadata.a[0]': ['{"waitlist_id":"{id}","metadata":{"a":["\\uD83D"]}}'],
  metadata: ['{"waitlist_id":"{id}","metadata":{"\\ud83d":1}}'],
  x: [beside('"\\ud800"')],
  body: ['null', 'true', '"text"', '1e999', '[]', '[{"waitlist_id":"{id}","email":"a@example.com"}]', ''],
  waitlist_id: ['{}'],
};

const reading: HostileInput[] = [
  ...each(NOT_JSON, (raw) => ({ call: `POST ${SIGNUP}`, raw, headers: JSON_TYPE, ...MALFORMED })),
  ...each(REFUSED_JSON, (raw, field) => ({ call: `POST ${SIGNUP}`, raw, headers: JSON_TYPE, ...INVALID, field })),
  ...each({ [`POST ${SIGNUP}`]: [256], [`PATCH ${WAITER}`]: [1024], [`POST ${LOGIN}`]: [256] }, (kib, call) => ({
    call,
    raw: `"${'x'.repeat(kib * 1024)}"`,
    headers: { ...JSON_TYPE, ...OWNER },
    ...TOO_LARGE,
  })),
];

const SOUND_RAW = '{"waitlist_id":"{id}","email":"hostile@example.com"}';
const TYPES = {
  'another type': ['text/plain', 'application/xml', 'multipart/form-data'],
  'a type like JSON': ['text/json', 'application/jsonx', 'json', 'application/ld+json', 'application/problem+json'],
  'several types': ['application/json, text/plain', 'application/*', '*/*'],
  'another charset': ['utf-16', 'iso-8859-1', '"windows-1252"', 'us-ascii', 'utf-7', 'utf-8; charset=utf-16'].flatMap(
    (charset) => ['application/json', 'application/x-www-form-urlencoded'].map((type) => `${type}; charset=${charset}`),
  ),
};
const CODINGS = ['gzip', 'GZIP', 'x-gzip', 'deflate', 'br', 'zstd', 'gzip, identity', 'identity, gzip', 'x'];
const OPERATIONS_WITH_BODY = {
  [`POST ${SIGNUP}`]: SOUND_RAW,
  [`PATCH ${WAITER}`]: '{"api_key":"{key}","offboard_request":true,"waiters":[{"id":"{waiter}"}]}',
  [`POST ${LOGIN}`]: 'email=a@example.com&password=x',
};
const media = Object.entries(OPERATIONS_WITH_BODY).flatMap(([call, raw]) => [
  ...each(TYPES, (type) => ({ call, raw, headers: { ...OWNER, 'content-type': type }, ...UNSUPPORTED })),
  ...each({ 'a content coding': CODINGS }, (coding) => ({
    call,
    raw,
    headers: { ...OWNER, ...JSON_TYPE, 'content-encoding': coding },
    ...UNSUPPORTED,
  })),
]);

/**
 * Zero-width space and joiner, word joiner, both kinds of controls of direction, soft hyphen, variation selectors, …
 */
const INVISIBLE = [
  ...'\u200b\u200d\u2060\u202e\u2066\u200f\u061c\u00ad\ufe0f\u{e0100}\ufeff\u034f\u3164\u180e\u2800\ufff9',
];

/** Neither an id nor a key of a waitlist. */
const NO_NAME = [...SQL, 'true', '+1', '1\u0000', '\u0661', '9'.repeat(400)];
const signups = bodies(
  `POST ${SIGNUP}`,
  { waitlist_id: '{id}', email: 'hostile@example.com' },
  {
    waitlist_id: {
      ...wrongType('number', 'text'),
      ...NO_ID,
      'no name of a waitlist': NO_NAME,
    },
    email: {
      ...NULLABLE_TEXT,
      ...disguised('hostile@example.com'),
      'no address': ['nobody', '@example.com', 'ada@', 'ada@localhost', 'ada@exa mple.com', 'ada@@example.com'],
      'no domain name': ['ada@-example.com', 'ada@example..com', 'ada@exa%6dple.com'],
      'an IP address for a domain': ['ada@127.0.0.1', 'ada@[127.0.0.1]'],
      'more than an address': ['ada@example.com, bob@example.com', 'Ada <ada@example.com>'],
      'an address with a path or query': ['ada@example.com/../admin', 'ada@example.com?x=1'],
      'a quoted local part': ['"ada"@example.com'],
      'another header of a mail': ['ada@example.com\r\nBcc: all@example.com'],
      'a part that is too long': [`${'a'.repeat(65)}@example.com`, `ada@${'b'.repeat(64)}.com`],
      'too long': [`${'a'.repeat(243)}@example.com`, 'a'.repeat(100_000), `${'a@'.repeat(100)}example.com`],
      'invisible characters': INVISIBLE.map((character) => `ada${character}@example.com`),
      'invisible characters in the domain': INVISIBLE.map((character) => `ada@exa${character}mple.com`),
      'code in place of an address': ["' OR '1'='1", '<script>alert(1)</script>@example.com'],
    },
    phone: {
      ...NULLABLE_TEXT,
      ...disguised('+14155550123'),
      'no number': ['call me', '+', "+1' OR 1=1 --"],
      'no country, on a waitlist without a region': ['5550123'],
      'no such number': ['+1415', '+1415555012345678', '+999123456789'],
      'a number with other text': ['call +14155550123 tonight', '+1415555012x'],
      'too long': [`+${'1'.repeat(32)}`],
    },
    first_name: { ...NULLABLE_TEXT, ...disguised('Hostile'), ...longerThan(100) },
    last_name: { ...NULLABLE_TEXT, ...disguised('Hostile'), ...longerThan(100) },
    referral_link: {
      ...NULLABLE_TEXT,
      'a list of one': [['https://example.com/?ref_id={referral}']],
      ...longerThan(2048),
    },
    form_opened_at: {
      ...NULLABLE_TEXT,
      ...disguised('2026-11-21T09:30:00Z'),
      'no time': ['', 'now', '2026-11-21', '2026-11-21T09:30:00', '2026-13-01T00:00:00Z', '1763718600000'],
      'too long': [`2026-11-21T09:30:00.${'0'.repeat(30)}Z`],
    },
    captcha_token: { ...NULLABLE_TEXT, 'a list of one': [['x']], ...longerThan(16_384) },
    'cf-turnstile-response': { ...NULLABLE_TEXT, ...longerThan(16_384) },
    'h-captcha-response': { ...NULLABLE_TEXT, ...longerThan(16_384) },
    metadata: {
      ...wrongType('object', 'null'),
      'more than 16 KiB': ['x'.repeat(16 * 1024), 'é'.repeat(8 * 1024), Array(9000).fill(0)].map((a) => ({ a })),
      'a key of more than 16 KiB': [{ ['k'.repeat(16 * 1024)]: 1 }],
      'nine levels': [{ a: [[[[[[[[]]]]]]]] }],
      NUL: [{ a: 'x\u0000' }, { 'a\u0000': 1 }, { a: '\\\u0000' }],
    },
  },
  INVALID,
);

const ANSWERS = {
  waitlist_id: '{asking}',
  email: 'hostile@example.com',
  answers: [
    { question_value: 'Why?', answer_value: 'x' },
    { question_value: 'How?', answer_value: 'On foot' },
  ],
};
const RULE_BROKEN = { status: 422, code: 'WAITLIST_RULE_BROKEN' };
const answering: HostileInput[] = [
  ...bodies(
    `POST ${SIGNUP}`,
    ANSWERS,
    {
      answers: { none: [undefined], ...wrongType('list') },
      'answers[0].question_value': {
        ...wrongType('text'),
        'unknown question': ['why?', 'Why? ', 'Ｗhy?', '__proto__'],
      },
      'answers[0].answer_value': { ...wrongType('text', 'null', 'list'), 'wrong type': [['x']], ...longerThan(4000) },
      'answers[1].answer_value': { 'no option': ['By car'], 'the same option twice': [['On foot', 'On foot']] },
      'answers[1].question_value': { 'answered twice': ['Why?'] },
    },
    RULE_BROKEN,
  ),
  ...bodies(
    `POST ${SIGNUP}`,
    ANSWERS,
    { 'answers[0]': wrongType('object'), answers: { 'too many': [Array(15_000).fill(0)] } },
    { ...RULE_BROKEN, field: 'answers[0].question_value' },
  ),
];

/** Values of a path or query, percent-encoded. */
const NO_NUMBER = ['-1', '1.5', '1e3', '0x1', '%2B1', '1%20', '1%00', '%D9%A1', "1'--", '9007199254740992'];
const NUMBER = { 'no number': ['', 'true', '+1', '%zz', '1%20OR%201=1', '9'.repeat(100), ...NO_NUMBER] };
const POSITIVE = { ...NUMBER, 'below the first': ['0'] };

const lookups: HostileInput[] = [
  ...queries(`${SIGNUP}?email=a@example.com`, {
    waitlist_id: { ...POSITIVE, 'a semicolon is no separator': ['{id};email=b@example.com'] },
  }),
  ...queries(`${SIGNUP}?waitlist_id={id}`, {
    email: {
      empty: ['', '%20'],
      'control character': ['a%00@example.com', 'a%0d%0aSet-Cookie:x=1@example.com'],
      'no UTF-8': ['%ff@example.com', '%C0%80@example.com', '%ED%A0%80@example.com', '%E2%82@example.com'],
      'a broken escape': ['ada@example.com%', '%u0061da@example.com'],
      'no address': ['nobody'],
      'invisible characters': INVISIBLE.map((character) => encodeURIComponent(`ada${character}@example.com`)),
      'too long': ['a'.repeat(300)],
    },
    phone: {
      NUL: ['+1415555%000123'],
      'no number': ['call%20me'],
      'no country': ['5550123'],
      'too long': ['1'.repeat(33)],
    },
  }),
  ...each(
    {
      // Left out, or under another name.
      waitlist_id: ['', '&waitlist_id[]={id}', '&waitlist_id[$gt]=0', '&WAITLIST_ID={id}'].map(
        (other) => `email=a@example.com${other}`,
      ),
      email: ['waitlist_id={id}', 'waitlist_id={id}&email[]=a@example.com'],
      // No UTF-8 in an ignored parameter.
      x: ['waitlist_id={id}&x=%ff&email=a@example.com', 'waitlist_id={id}&email=a@example.com&x=?%ff'],
      '%ff': ['waitlist_id={id}&%ff=1&email=a@example.com'],
    },
    (query, field) => ({ call: `GET ${SIGNUP}?${query}`, ...INVALID, field }),
  ),
  ...each(
    {
      'SQL matches nobody': ["'%20OR%20'1'='1'--", '%25', '_____'],
      'a similar email matches nobody': ['kn%C3%B6wn', '%EF%BD%8Bnown'],
    },
    (name) => ({ call: `GET ${SIGNUP}?waitlist_id={id}&email=${name}@example.com`, ...NOBODY_FOUND }),
  ),
  ...['place', 'events'].flatMap((path) => [
    ...each({ 'no uuid': ['', 'x', '%00', "'%20OR%20'1'='1", '{uuid}x', '{uuid}&uuid={uuid}'] }, (uuid) => ({
      call: `GET ${SIGNUP}/${path}?waitlist_id={id}&uuid=${uuid}`,
      ...INVALID,
      field: 'uuid',
    })),
    ...each({ 'no waitlist': ['', '0', '-1', '1e3', '%00', '{id}&waitlist_id={id}'] }, (id) => ({
      call: `GET ${SIGNUP}/${path}?waitlist_id=${id}&uuid={uuid}`,
      ...INVALID,
      field: 'waitlist_id',
    })),
    {
      why: 'a person of another waitlist',
      call: `GET ${SIGNUP}/${path}?waitlist_id={asking}&uuid={uuid}`,
      ...NOBODY_FOUND,
    },
  ]),
];

const HEARTBEAT = '/api/v1/widget_heartbeats';
const PAGE_ADDRESS = { ...wrongType('text'), 'too long': ['x'.repeat(8193)] };
const heartbeats: HostileInput[] = [
  ...bodies(
    `POST ${HEARTBEAT}`,
    { waitlist_id: '{id}', location: 'https://example.com/join', referrer: '' },
    {
      waitlist_id: { ...wrongType('number', 'text'), ...NO_ID, 'no name of a waitlist': NO_NAME },
      location: PAGE_ADDRESS,
      referrer: PAGE_ADDRESS,
      widget_type: { ...NULLABLE_TEXT, ...longerThan(64) },
    },
    INVALID,
  ),
  ...each({ 'an unknown key': ['ZZZZZZZZ', 'a'.repeat(40)] }, (waitlist_id) => ({
    call: `POST ${HEARTBEAT}`,
    body: { waitlist_id, location: '', referrer: '' },
    status: 404,
    code: 'WAITLIST_NOT_FOUND',
  })),
];

/** The fields that the earlier generations name otherwise; they share all others with the operations above. */
const NAMING = { ...wrongType('number', 'text'), ...NO_ID, 'no name of a waitlist': NO_NAME };
const earlierGenerations: HostileInput[] = [
  ...bodies(
    'POST /api/v1/waiter',
    { waitlist_id: '{id}', email: 'hostile@example.com' },
    { waitlist_id: NAMING },
    INVALID,
  ),
  ...bodies(
    'POST /api/v1/waitlists/submit',
    { api_key: '{id}', email: 'hostile@example.com' },
    { api_key: NAMING, email: { ...NULLABLE_TEXT, ...disguised('hostile@example.com'), 'no address': ['nobody'] } },
    INVALID,
  ),
  ...bodies(
    'POST /api/v1/users/status',
    { api_key: '{id}', email: 'known@example.com' },
    {
      api_key: NAMING,
      email: { ...wrongType('text'), ...disguised('known@example.com'), 'no address': ['%', "' OR ''='"] },
    },
    INVALID,
  ),
  ...queries('/api/v1/waiter?waitlist_id={id}', {
    email: { empty: ['', '%20'], 'no UTF-8': ['%ff@example.com'], 'no address': ['nobody', '%25'] },
    uuid: { 'no uuid': ['', '%25', '{referral}'] },
  }),
  ...queries('/api/v1/waitlist?x=1', { waitlist_id: { 'no name of a waitlist': ['0', '-1', 'true', '1%20', '1%00'] } }),
  ...['/api/v1/waitlist/{id}/leaderboard?total_signups', '/api/v1/waiter/{id}/leaderboard?total_waiters'].flatMap(
    (path) =>
      each({ ...POSITIVE, 'more than a leaderboard': ['101'] }, (length) => ({
        call: `GET ${path}=${length}`,
        ...INVALID,
      })),
  ),
];

const credential = (sound: string) => ({ ...TEXT, 'a list of one': [[sound]], 'too long': ['x'.repeat(257)] });
const logins: HostileInput[] = [
  ...bodies(
    `POST ${LOGIN}`,
    CREDENTIALS,
    { email: credential(CREDENTIALS.email), password: credential(CREDENTIALS.password) },
    INVALID,
  ),
  ...each(
    {
      'SQL logs nobody in': [{ email: "' OR '1'='1", password: "' OR '1'='1" }],
      'NUL logs nobody in': [
        { email: 'nobody@example.com', password: 'x\u0000' },
        { email: 'a\u0000@example.com', password: 'x' },
      ],
      'unknown fields log nobody in': [{ email: 'nobody@example.com', password: 'x', remember: true, is_admin: true }],
    },
    (body) => ({ call: `POST ${LOGIN}`, body, status: 401, code: 'WRONG_CREDENTIALS' }),
  ),
  ...bodies(
    `POST ${NEW_PASSWORD}`,
    { current_password: CREDENTIALS.password, new_password: 'brisk otter plum canyon fizz' },
    { current_password: credential(CREDENTIALS.password), new_password: credential('brisk otter plum canyon fizz') },
    { headers: OWNER, ...INVALID },
  ),
];

const NO_FLAG = { 'no boolean': ['yes', '2', ''] };
const statistics: HostileInput[] = [
  ...queries(
    `${WAITLIST}/{id}/statistics?to=2026-11-22`,
    {
      from: {
        'no day': ['', '2026-02-30', '2026-11-1', '20261101', '1969-12-31', '2026-11-01%00', "2026-11-01'%20OR%201=1"],
        'too long ago': ['1970-01-01'],
        'after the last day': ['9999-12-31'],
      },
    },
    OWNER,
  ),
  ...queries(
    `${WAITLIST}/{id}/mail_preview?`,
    { kind: { 'no kind': ['newsletter', '../welcome', "welcome' OR 1=1"] } },
    OWNER,
  ),
  ...queries(`${WAITLIST}/{id}/reorder?`, { spots_to_move_upon_referral: { ...NUMBER, 'too many': ['10001'] } }, OWNER),
];

/** Values of `name`; U+0301 is an accent. */
const NO_PERSON_NAME = {
  'too short': ['', 'a'],
  'no character that counts': ['%20%20', '%CC%81%CC%81'],
  'too long': ['a'.repeat(101)],
  'control characters': ['be%00', 'be%1b[31m'],
  'no UTF-8': ['be%ff'],
};
const listing: HostileInput[] = [
  ...queries(
    `${WAITER}?api_key={key}`,
    {
      offset: NUMBER,
      limit: { ...POSITIVE, 'more than a page': ['101'] },
      after_id: POSITIVE,
      waitlist_id: POSITIVE,
      email: { empty: ['', '%20'], 'no address': ['nobody', '%25', "'%20OR%20''='"], 'no UTF-8': ['%ff'] },
      phone: { empty: [''], 'no number': ['call%20me', '4155550123'] },
      uuid: { 'no uuid': ['', '%25', '{referral}', '0199f2a4-5b6c-7def-8a90-123456789abc%00'] },
      search: {
        empty: ['', '%20'],
        'too long': ['a'.repeat(255)],
        'control characters': ['a%00'],
        'no UTF-8': ['%ff'],
      },
      name: { ...NO_PERSON_NAME, 'beside a search': ['berg&search=ada'] },
      order: { 'no order': ['', 'rank_key', 'joined,(select%201)'], 'beside a name': ['queue&name=berg'] },
      status: { 'no status': ['', 'OFFERED', '3'], 'all of them': ['any', 'any&credit=none'] },
      questions_request: NO_FLAG,
      include_referrer: NO_FLAG,
      offboarded_request: NO_FLAG,
      referral_token: { 'too long': ['A'.repeat(65)], 'no UTF-8': ['%ff'] },
    },
    OWNER,
  ),
  ...each({ refferal_token: ['{referral}'], Limit: ['1'], 'limit[]': ['1'], __proto__x: ['1'] }, (value, field) => ({
    call: `GET ${WAITER}?api_key={key}&${field}=${String(value)}`,
    headers: OWNER,
    ...INVALID,
    field,
  })),
  ...each(
    {
      'no API key': ['', 'api_key=', 'api_key[]={key}', 'api_key={key}&api_key={foreignKey}'],
      'too long for an API key': [`api_key=${'a'.repeat(5000)}`],
    },
    (query) => ({ call: `GET ${WAITER}?${query}`, headers: OWNER, ...INVALID }),
  ),
  ...each(
    { 'not the API key': ['{foreignKey}', '{key}%20', '{key}%00', "'%20OR%20''='", '%25', 'a'.repeat(64)] },
    (key) => ({ call: `GET ${WAITER}?api_key=${key}`, headers: OWNER, ...WRONG_KEY }),
  ),
  ...each(
    {
      'a similar referral token is unknown': ['{referral}%20', '{referral}%00', '%20{referral}'],
      'a hostile referral token is unknown': ["'%20OR%201=1", '%25', '%C3%A9', '%F0%9F%98%80', '__proto__'],
    },
    (token) => ({ call: `GET ${WAITER}?api_key={key}&referral_token=${token}`, headers: OWNER, status: 200 }),
  ),
  ...each(
    {
      'the wildcards and quotes of a search are text': ['%25', '_', "'%20OR%20''='", '%5C', '%F4%8F%BF%BF'].map(
        (text) => `search=${text}`,
      ),
      'the wildcards and quotes of a name are text': ['%25%25', '__', "'%20OR%20''='", '%5C%5C', 'z%F4%8F%BF%BF'].map(
        (text) => `name=${text}`,
      ),
    },
    (query) => ({
      call: `GET ${WAITER}?api_key={key}&${query}`,
      headers: OWNER,
      status: 200,
    }),
  ),
];

const OFFBOARDING = { api_key: '{key}', offboard_request: true, waiters: [{ id: '{waiter}' }, { id: '{waiter}' }] };
const OWNERS_FAULT = { headers: OWNER, ...INVALID };
const offboarding: HostileInput[] = [
  ...bodies(
    `PATCH ${WAITER}`,
    OFFBOARDING,
    {
      offboard_request: { ...wrongType('boolean'), false: [false] },
      waiters: { ...wrongType('list'), 'no items': [[]], 'too many items': [Array(1001).fill({ id: 1 })] },
      'waiters[0]': wrongType('object'),
      'waiters[1].id': { 'left out': [undefined], ...wrongType('number'), ...NO_ID, 'no number': SQL },
      api_key: { ...TEXT, 'a list of one': [['{key}']] },
      waitlist_id: NO_ID,
    },
    OWNERS_FAULT,
  ),
  {
    why: "another owner's key in the body, one's own in the address",
    call: `PATCH ${WAITER}?api_key={key}`,
    headers: OWNER,
    body: { ...OFFBOARDING, api_key: '{foreignKey}' },
    ...WRONG_KEY,
  },
];

const SETTINGS = {
  offers: { hours: 24 },
  waitlist_name: 'Hostile',
  waitlist_url_location: 'https://example.com/',
  required_contact: {},
  questions: [{ question_value: 'Why?', answer_value: ['Because'] }],
  fraud: {},
  mails: { verification: {}, welcome: {}, your_turn: {} },
  captcha: { provider: 'turnstile', site_key: 'site-key', secret: 'the-secret' },
  release_plan: { every: 'day', weekdays: [1], at: '09:00', time_zone: 'Europe/Berlin', count: 50 },
};
const SETTING_FAULTS: Fields = {
  waitlist_name: { ...TEXT, ...disguised('Hostile'), ...longerThan(200) },
  waitlist_url_location: {
    ...NULLABLE_TEXT,
    empty: [''],
    ...disguised('https://example.com/'),
    'no address': ['example.com', '/join', 'https://', 'https://exa mple.com/'],
    'not percent-encoded ASCII': ['https://exämple.com/', 'https://example.com/a page', 'https://example.com/?a=%zz'],
    'a script or a document': ['javascript:alert(1)', 'java\u0000script:alert(1)', 'data:text/html,x'],
    'another scheme': ['file:///etc/passwd', 'ftp://example.com/'],
    'a header of its own': ['https://example.com/\r\nSet-Cookie: x=1'],
    'too long': [`https://example.com/${'x'.repeat(2048)}`],
  },
  spots_to_move_upon_referral: {
    ...wrongType('number'),
    'out of range': [-1, 10_001, 1e308],
    'no whole number': [1.5],
  },
  default_region: {
    ...wrongType('text', 'null'),
    'a list of one': [['US']],
    'no country': ['USA', 'us', 'XX', 'U\u0000'],
  },
  required_contact: { ...wrongType('object'), 'nothing to find a person by': [{ email: 'off', phone: 'off' }] },
  'required_contact.email': {
    ...wrongType('text'),
    'a list of one': [['required']],
    'no requirement': ['true', 'REQUIRED'],
  },
  questions: {
    ...wrongType('list'),
    'too many': [Array.from({ length: 4 }, (_, index) => ({ question_value: `Why ${index}?` }))],
    'more than 16 KiB': [
      [{ question_value: 'Why?', answer_value: Array.from({ length: 40 }, (_, index) => `${index}`.padEnd(500, 'x')) }],
    ],
  },
  'questions[0].required': { unknown: [true] },
  'questions[0].id': { ...wrongType('number'), ...NO_ID, unknown: [1] },
  slug: {
    ...NULLABLE_TEXT,
    ...disguised('hostile'),
    'too short': ['', 'ab'],
    'no letter': ['12345', '---'],
    'other characters': ['Hostile', 'höstile', 'hostile page', 'hos/tile', '../hostile', "hostile'--"],
    ...longerThan(40),
  },
  title: { ...NULLABLE_TEXT, ...disguised('Join'), ...longerThan(200) },
  contact: {
    ...NULLABLE_TEXT,
    ...disguised('hello@example.com'),
    'neither an email nor an address': ['', 'nobody', 'example.com', 'https://', '//example.com', 'a@b@c'],
    'a script or another scheme': [
      'javascript:alert(1)',
      'http://example.com/',
      'mailto:hello@example.com',
      'data:x@y.z',
    ],
    'too long': [`https://example.com/${'x'.repeat(254)}`],
  },
  logo: {
    ...NULLABLE_TEXT,
    ...disguised('https://example.com/logo.png'),
    'a script or a document': ['javascript:alert(1)', 'data:image/svg+xml,<svg/>'],
    'another scheme': ['http://example.com/logo.png', '//example.com/logo.png'],
    'a way out of an attribute': ['https://example.com/"onerror="alert(1)'],
  },
  configuration_style_json: {
    ...wrongType('object'),
    'more than 8 KiB': [{ a: 'x'.repeat(8 * 1024) }],
    'too deep': [JSON.parse(levels('{"a":', '}', 9).replace(':}', ':1}'))],
    NUL: [{ a: '\u0000' }],
  },
  leaderboard_length: { ...wrongType('number'), 'out of range': [0, 101], 'no whole number': [1.5] },
  uses_leaderboard: wrongType('boolean'),
  fraud: wrongType('object'),
  'fraud.disposable_domains': wrongType('boolean', 'null'),
  'fraud.referrals_per_hour': { ...wrongType('number', 'null'), 'out of range': [-1, 0, 10_001] },
  'fraud.referals_per_hour': { unknown: [1] },
  offers: wrongType('object'),
  'offers.hours': { ...wrongType('number', 'null'), 'out of range': [-1, 0, 721], 'no whole number': [1.5] },
  'offers.on_expiry': { ...wrongType('text'), 'no setting': ['OUT', 'in', 'end;'] },
  'offers.url': {
    ...NULLABLE_TEXT,
    empty: [''],
    'another scheme': ['javascript:alert(1)', 'ftp://example.com', '//example.com'],
    ...longerThan(2048),
  },
  'offers.days': { unknown: [1] },
  captcha: { 'wrong type': ['true', 1, true, ['text']] },
  'captcha.provider': { ...wrongType('text'), 'no provider': ['recaptcha', 'https://example.com'] },
  'captcha.site_key': { ...TEXT, ...disguised('site-key'), 'a way out of an attribute': ['"onload="alert(1)'] },
  'captcha.secret': { ...TEXT, ...disguised('the-secret'), ...longerThan(500) },
  'captcha.verify_url': { unknown: ['https://example.com'] },
  mail_subject: { ...NULLABLE_TEXT, empty: [''], ...disguised('Hello'), ...longerThan(200) },
  mail_text: { ...NULLABLE_TEXT, empty: [''], NUL: ['a\u0000b'], 'an escape of a terminal': ['\u001b[31m'] },
  mails: wrongType('object'),
  'mails.welcome': wrongType('object', 'null'),
  'mails.welcome.subject': { ...NULLABLE_TEXT, empty: [''], ...disguised('Hello'), ...longerThan(200) },
  'mails.your_turn.text': {
    ...NULLABLE_TEXT,
    empty: [''],
    NUL: ['a\u0000b'],
    'an unknown placeholder': ['{password}'],
  },
  'mails.verification.text': { 'a name that a stranger typed': ['Hello {first_name}'] },
  'mails.newsletter': { unknown: [{ text: 'Hello' }] },
  release_plan: { 'wrong type': ['day', 1, true, [{}]] },
  'release_plan.every': { 'left out': [undefined], ...wrongType('text'), 'no rhythm': ['DAY', 'week', 'toString'] },
  'release_plan.weekdays': { ...wrongType('list', 'null'), 'no day': [[]], 'a day twice': [[1, 1]] },
  'release_plan.weekdays[0]': { ...wrongType('number'), 'out of range': [0, 8, 1e308], 'no whole number': [1.5] },
  'release_plan.at': {
    ...wrongType('text', 'null'),
    ...disguised('09:00'),
    'no time': ['', '9:00', '24:00', '09:60', '09:00:00', '09:00Z', '٠٩:٠٠'],
  },
  'release_plan.time_zone': {
    'left out': [undefined],
    ...TEXT,
    ...disguised('Europe/Berlin'),
    'no zone': ['', 'Mars/Base', '+01:00', '../../etc/passwd', 'Europe/Berlin[u-ca=hebrew]', 'constructor'],
    ...longerThan(64),
  },
  'release_plan.count': { 'left out': [undefined], ...wrongType('number'), 'out of range': [-1, 0, 10_001, 1e308] },
  'release_plan.seats': { ...wrongType('number', 'null'), 'out of range': [-1, 0, 10_000_001], fraction: [0.5] },
  'release_plan.until': { ...wrongType('text', 'null'), 'no day': ['', 'tomorrow', '2027-02-29', '2027-01-01T00:00Z'] },
  'release_plan.is_active': wrongType('boolean'),
  'release_plan.next_run': { unknown: [[]] },
  verification: { ...wrongType('text'), 'no setting': ['on', 'OFF', 'true'] },
  mail_on_offboarding: wrongType('boolean'),
  mail_on_signup: wrongType('boolean'),
  waitlist_nmae: { unknown: ['Hostile'] },
  'required_contact.fist_name': { unknown: ['off'] },
  'questions[0]': wrongType('object'),
  'questions[0].question_value': { 'left out': [undefined], ...TEXT, ...disguised('Why is it?'), ...longerThan(500) },
  'questions[0].optional': wrongType('boolean'),
  'questions[0].answer_value': {
    ...wrongType('list', 'null'),
    'no option': [[]],
    'the same option twice': [['a', 'a']],
    'too many options': [Array.from({ length: 101 }, String)],
  },
  'questions[0].answer_value[0]': { ...TEXT, ...disguised('Because') },
};

/** What only a new waitlist may bring. */
const NAME_FAULTS: Fields = {
  id: { ...wrongType('number'), ...NO_ID, 'beyond 31 bits': [2_147_483_648] },
  public_key: {
    ...TEXT,
    ...disguised('HOSTILE1'),
    'no letter': ['12345678'],
    'other letters': ['hostile1', 'HÖSTILE1', "A' OR 1=1"],
    'too short': ['K1234'],
    ...longerThan(12),
  },
};

const waitlists: HostileInput[] = [
  ...bodies(`POST ${WAITLIST}`, SETTINGS, { ...SETTING_FAULTS, ...NAME_FAULTS }, OWNERS_FAULT),
  ...bodies(`PATCH ${WAITLIST}/{id}`, SETTINGS, SETTING_FAULTS, OWNERS_FAULT),
  ...each({ 'no id of a waitlist': ['0', '01', 'abc', '{id};x', ...NO_NUMBER] }, (id) => ({
    call: `GET ${WAITLIST}/${id}`,
    ...INVALID,
    field: 'waitlist_id',
  })),
];

const DECISION = { credit: 'refused', signups: [{ uuid: '{uuid}' }, { uuid: '{uuid}' }] };
const NAMED = { waitlist_id: '{id}', offboard_request: true, signups: [{ uuid: '{uuid}' }, { uuid: '{uuid}' }] };
const NO_UUID: Faults = {
  'no uuid': ['', '{referral}', '{waiter}', '%', "' OR ''='", '0199f2a4-5b6c-7def-8a90-123456789abc\u0000'],
};
const records: HostileInput[] = [
  ...queries(
    `${SIGNUP}/waitlist/{id}?limit=100`,
    {
      offset: NUMBER,
      after_id: POSITIVE,
      referral_token: { 'too long': ['A'.repeat(65)] },
      name: NO_PERSON_NAME,
      order: { 'no order': ['', 'joined', 'rank_key'], 'beside a name': ['queue&name=berg'] },
      status: { 'no status': ['', 'OFFERED', '3'], 'all of them': ['any'] },
      referral_tokens: { 'no tokens': ['', ',', 'A,', "'%20OR%201=1", '{referral}%00', '%C3%A9', 'A'.repeat(33)] },
      questions_request: NO_FLAG,
      include_referrer: NO_FLAG,
      offboarded_request: NO_FLAG,
    },
    OWNER,
  ),
  ...each({ 'no uuid': ['x', '{referral}', '%00', "'%20OR%20''='", 'waitlist', '..%2fwaiter'] }, (uuid) => ({
    call: `GET ${SIGNUP}/${uuid}`,
    headers: OWNER,
    ...INVALID,
    field: 'uuid',
  })),
  ...[`PATCH ${SIGNUP}`, `DELETE ${SIGNUP}`].flatMap((call) =>
    bodies(
      call,
      NAMED,
      {
        waitlist_id: { 'left out': [undefined], ...wrongType('text', 'number'), ...NO_ID, 'no number': SQL },
        signups: { ...wrongType('list'), 'no items': [[]], 'too many items': [Array(1001).fill({ uuid: '{uuid}' })] },
        'signups[0]': wrongType('object'),
        'signups[1].uuid': { 'left out': [undefined], ...wrongType('text'), ...NO_UUID },
      },
      OWNERS_FAULT,
    ),
  ),
  ...bodies(`PATCH ${SIGNUP}`, NAMED, { offboard_request: { ...wrongType('boolean'), false: [false] } }, OWNERS_FAULT),
  ...bodies(
    `POST ${WAITLIST}/{id}/decide_referrals`,
    DECISION,
    {
      credit: { 'left out': [undefined], ...wrongType('text'), 'no decision': ['', 'CREDITED', 'withheld', 'none'] },
      signups: { ...wrongType('list'), 'no items': [[]], 'too many items': [Array(1001).fill({ uuid: '{uuid}' })] },
      'signups[0]': wrongType('object'),
      'signups[1].uuid': { 'left out': [undefined], ...wrongType('text'), ...NO_UUID },
    },
    OWNERS_FAULT,
  ),
  ...bodies(
    `POST ${WAITLIST}/{id}/offer`,
    { count: 1, dry_run: true },
    {
      count: { ...wrongType('number'), 'no number of people': [0, -1, 1.5, 1_001, 1e300], 'no number': SQL },
      signups: { 'beside a count': [[{ uuid: '{uuid}' }]] },
      hours: { ...wrongType('number', 'null'), 'no time': [0, -1, 1.5, 721, 1e300], 'no number': SQL },
      dry_run: wrongType('boolean'),
    },
    OWNERS_FAULT,
  ),
  ...[`POST ${WAITLIST}/{id}/offer`, `POST ${WAITLIST}/{id}/return`].flatMap((call) =>
    bodies(
      call,
      { signups: NAMED.signups, dry_run: true },
      {
        signups: {
          ...(call.endsWith('/offer') ? wrongType('list', 'null') : wrongType('list')),
          'no items': [[]],
          'too many items': [Array(1001).fill({ uuid: '{uuid}' })],
        },
        'signups[0]': wrongType('object'),
        'signups[1].uuid': { 'left out': [undefined], ...wrongType('text'), ...NO_UUID },
      },
      OWNERS_FAULT,
    ),
  ),
  ...['check', 'accept'].flatMap((operation) => [
    ...bodies(
      `POST /api/v1/offer/${operation}`,
      { code: 'x' },
      { code: { 'left out': [undefined], ...TEXT, ...disguised('x'), ...longerThan(100) } },
      OWNERS_FAULT,
    ),
    ...each({ 'an unknown code': ['x', "' OR ''='", '%', '../', '\u202e', '{uuid}', '{referral}'] }, (code) => ({
      call: `POST /api/v1/offer/${operation}`,
      body: { code },
      headers: OWNER,
      status: 404,
      code: 'OFFER_NOT_FOUND',
    })),
  ]),
  ...bodies(
    `PATCH ${SIGNUP}/{uuid}`,
    {},
    {
      spots_to_advance: { ...wrongType('number'), 'no spots': [0.5, 1_000_001, -1_000_001, 1e300], 'no number': SQL },
      metadata: { ...wrongType('object', 'null'), 'a control character': [{ a: '\u0000' }] },
      email: { ...wrongType('text', 'null'), 'no address': ['nobody', "' OR ''='"], ...disguised('ada@example.com') },
      phone: { ...wrongType('text', 'null'), 'no number': ['call me', '4155550123'] },
      first_name: { ...NULLABLE_TEXT, ...disguised('Ada'), ...longerThan(100) },
      last_name: { ...NULLABLE_TEXT, ...disguised('Lovelace'), ...longerThan(100) },
      verified: wrongType('boolean'),
    },
    OWNERS_FAULT,
  ),
];

const UNKNOWN_ADDRESSES = {
  'a file of the service': ['/.env', '/.git/config', '/data/waitlist.sqlite', '/data/jwt-secret', '/package.json'],
  'a file beside the documentation': ['/docs/assets/package.json', '/docs/assets/swagger-ui.css%00.html'],
  'a way out of its folder': ['..%2f..%2f', '%2e%2e/%2e%2e/', '..%5c..%5c'].map(
    (way) => `/docs/assets/${way}package.json`,
  ),
  'a way out of a folder of the API': ['/api/v1/users/..%2fwaiter', '/api/v1/auth/..%2fwaiter'],
  'an operation that does not exist': ['/api/v1/admin', '/api/v0/waiter', '/graphql'],
  'a page of other servers': ['/server-status', '/debug/pprof', '/actuator/env'],
};
const addresses: HostileInput[] = [
  ...each(UNKNOWN_ADDRESSES, (path) => ({ call: `GET ${path}`, status: 404, code: 'NOT_FOUND' })),
  // Their answers are pages, which have no code.
  ...each({ 'no token of a link': ['x', '%00', '%25', "'%20OR%20''='", '..%2fverify%2fx', '{uuid}'] }, (token) => ({
    call: `POST /waitlist/{id}/leave/${token}`,
    status: 404,
  })),
  ...each({ 'no code of an offer': ['x', '%00', '%25', "'%20OR%20''='", '..%2fleave%2fx', '{uuid}'] }, (code) => ({
    call: `POST /waitlist/{id}/offer/${code}/accept`,
    status: 404,
  })),
  ...each({ 'no uuid of a private page': ['x', '%00', "'%20OR%20''='"] }, (uuid) => ({
    call: `POST /waitlist/{id}/status/${uuid}/leave`,
    status: 404,
  })),
  ...each({ 'no percent-encoded UTF-8': ['/%', '/%ff', '/api/v1/%C0%AE%C0%AE/', '/api/v1/signup%'] }, (path) => ({
    call: `GET ${path}`,
    status: 400,
    code: 'MALFORMED_REQUEST',
  })),
  ...each({ 'another method': ['PUT', 'QUERY', 'HEAD'] }, (method) => ({
    call: `${method} ${SIGNUP}`,
    status: 405,
    code: 'METHOD_NOT_ALLOWED',
  })),
  ...each({ 'an override of the method is ignored': ['DELETE', 'POST'] }, (method) => ({
    call: `GET ${SIGNUP}?waitlist_id={id}&email=nobody@example.com&_method=${method}`,
    headers: { 'x-http-method-override': method },
    ...NOBODY_FOUND,
  })),
  { why: 'a way around a guard', call: `GET ${SIGNUP}/..%2fwaitlist`, ...NO_TOKEN },
  { why: 'a token in the address is ignored', call: `GET ${WAITER}?api_key={key}&access_token={token}`, ...NO_TOKEN },
  {
    why: 'a token in a cookie is ignored',
    call: `GET ${WAITER}?api_key={key}`,
    headers: { cookie: 'access_token={token}' },
    ...NO_TOKEN,
  },
];

/** None of these changes what is stored. */
export const REFUSED: readonly HostileInput[] = [
  ...reading,
  ...media,
  ...signups,
  ...answering,
  ...lookups,
  ...heartbeats,
  ...earlierGenerations,
  ...logins,
  ...statistics,
  ...listing,
  ...offboarding,
  ...records,
  ...waitlists,
  ...addresses,
];
