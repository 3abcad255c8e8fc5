import { randomUUID } from 'node:crypto';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AccountService } from '../../src/account/account.service.js';
import type { Role } from '../../src/account/member.entity.js';
import { MemberLinkService } from '../../src/account/member-link.service.js';
import { type Member, MemberService } from '../../src/account/member.service.js';
import { PasswordHasher } from '../../src/account/password-hasher.js';
import { TokenService } from '../../src/auth/token.service.js';
import { operatorWrite } from '../../src/platform/idempotency/account-write.js';
import type { SignupDto } from '../../src/signup/signup.dto.js';
import type { WaiterDto } from '../../src/waiter/waiter.dto.js';
import type { CreatedWaitlistDto, CreateWaitlistDto } from '../../src/waitlist/waitlist.dto.js';
import type { Answer, Api } from './api.js';
import { OWNER } from './service-process.js';

/** The password of every account that a test makes. */
export const PASSWORD = OWNER.password;
let passwordHash: Promise<string> | undefined;

/** A member with a login. */
export interface LoggedIn {
  readonly id: string;
  readonly email: string;
  readonly accountId: number;
  readonly token: string;
  readonly refreshToken: string;
}

/** The first member of an account of its own, whose uuid is `uuid`. */
export interface Owner extends LoggedIn {
  readonly uuid: string;
}

export interface OwnedWaitlist extends CreatedWaitlistDto {
  readonly owner: Owner;
}

/** A signup and its email. */
export interface Person extends SignupDto {
  readonly email: string;
}

export const newEmail = (): string => `${randomUUID()}@example.com`;

/** Makes the owners, waitlists and signups that a test needs. */
export class World {
  constructor(
    private readonly app: NestFastifyApplication,
    private readonly api: Api,
  ) {}

  async owner(): Promise<Owner> {
    const email = `${randomUUID()}@owners.example`;
    // One hash for all owners: a hash takes longer than most tests.
    passwordHash ??= this.app.get(PasswordHasher).hash(PASSWORD);
    const login = { email, emailKey: email, passwordHash: await passwordHash };
    const created = { uuid: randomUUID(), ownerId: randomUUID(), ...login };
    const { account, owner } = await this.app.get(AccountService).insert(created);
    return { ...(await this.logIn(owner)), uuid: account.uuid };
  }

  /** Another member of the owner's account. */
  async member({ accountId }: Pick<Owner, 'accountId'>, role: Role): Promise<LoggedIn> {
    const email = `${randomUUID()}@members.example`;
    const links = this.app.get(MemberLinkService);
    const invited = await links.invite({ email, role, name: null }, operatorWrite(accountId), { isMailOn: false });
    const token = invited.invitationUrl.split('#')[1]!;
    await links.accept(token, { password: PASSWORD, name: undefined }, { id: randomUUID(), ip: '127.0.0.1' });
    return this.logIn(await this.app.get(MemberService).get(accountId, invited.member.id));
  }

  /** As the operator. */
  async setPassword(email: string, password: string): Promise<void> {
    const members = this.app.get(MemberService);
    const member = await members.getByEmail(email);
    await members.setPassword(member, password, operatorWrite(member.accountId));
  }

  private async logIn(member: Member): Promise<LoggedIn> {
    const { id, email, accountId } = member;
    const { accessToken, refreshToken } = await this.app.get(TokenService).issue(member, null);
    return { id, email, accountId, token: accessToken, refreshToken };
  }

  async waitlist(settings: Partial<CreateWaitlistDto> = {}, owner?: Owner): Promise<OwnedWaitlist> {
    const own = owner ?? (await this.owner());
    const body = { waitlist_name: 'Test', waitlist_url_location: 'https://example.com/join', ...settings };
    const answer = expectOk(await this.api.post('/api/v1/waitlist', body, { token: own.token }));
    return { ...(answer.body as CreatedWaitlistDto), owner: own };
  }

  async signup(waitlist: { readonly id: number }, fields: Readonly<Record<string, unknown>> = {}): Promise<Person> {
    const email = newEmail();
    const answer = expectOk(await this.api.post('/api/v1/signup', { waitlist_id: waitlist.id, email, ...fields }));
    return { email, ...(answer.body as SignupDto) };
  }

  /** One after the other, so they are in queue order. */
  async signups(waitlist: { readonly id: number }, count: number): Promise<[Person, ...Person[]]> {
    const people: Person[] = [];
    for (let index = 0; index < count; index += 1) people.push(await this.signup(waitlist));
    return people as [Person, ...Person[]];
  }

  async priorityOf({ email, waitlist_id }: Person): Promise<number> {
    const { body } = expectOk(await this.api.get('/api/v1/signup', { query: { email, waitlist_id } }));
    return (body as SignupDto).priority;
  }

  async list(
    waitlist: OwnedWaitlist,
    query: Readonly<Record<string, string | number | boolean>> = {},
  ): Promise<WaiterDto[]> {
    const answer = await this.api.get('/api/v1/waiter', {
      token: waitlist.owner.token,
      query: { api_key: waitlist.api_key, ...query },
    });
    return expectOk(answer).body as WaiterDto[];
  }

  /** The id of a person in the owner's lists. */
  async idOf(waitlist: OwnedWaitlist, { uuid }: { readonly uuid: string }): Promise<number> {
    for (const offboarded_request of [false, true]) {
      for (let offset = 0; ; offset += 100) {
        const page = await this.list(waitlist, { offset, offboarded_request });
        const found = page.find((waiter) => waiter.uuid === uuid);
        if (found) return found.id;
        if (page.length < 100) break;
      }
    }
    throw new Error(`There is no ${uuid} on waitlist ${waitlist.id}`);
  }

  async offboard(waitlist: OwnedWaitlist, ids: readonly number[]): Promise<WaiterDto[]> {
    const body = { api_key: waitlist.api_key, offboard_request: true, waiters: ids.map((id) => ({ id })) };
    return expectOk(await this.api.patch('/api/v1/waiter', body, { token: waitlist.owner.token })).body as WaiterDto[];
  }

  async offboardPeople(waitlist: OwnedWaitlist, ...people: readonly { readonly uuid: string }[]): Promise<WaiterDto[]> {
    return this.offboard(waitlist, await Promise.all(people.map((person) => this.idOf(waitlist, person))));
  }
}

function expectOk(answer: Answer): Answer {
  if (answer.status >= 300) throw new Error(`Answered ${answer.status}: ${answer.text}`);
  return answer;
}
