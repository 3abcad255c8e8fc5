import { Inject, Injectable } from '@nestjs/common';
import { customAlphabet } from 'nanoid';
import { generateSecret, generateURI, verifySync } from 'otplib';
import { v7 as uuidV7 } from 'uuid';
import { MemberMailStore } from '../outbox/member-mail.store.js';
import { AuditLog, type Sender } from '../platform/audit/audit-log.js';
import { type Config, CONFIG } from '../platform/config/config.js';
import { Database } from '../platform/database/database.js';
import { known, type Query } from '../platform/database/session.js';
import { Problem } from '../platform/problems/problem.js';
import { hashKey } from '../platform/secrets/random-key.js';
import { SealedColumns } from '../platform/secrets/sealed-columns.js';
import { Secrets } from '../platform/secrets/secrets.js';
import { LoginStore } from './login.store.js';
import type { TokenCaller } from './token.service.js';
import type { TwoFactorEntity } from './two-factor.entity.js';
import { type LockedMember, TwoFactorStore } from './two-factor.store.js';

/** RFC 6238's defaults (SHA-1, 6 digits), which are what all authenticator apps support. */
const PERIOD_SECONDS = 30;
const CODE = /^\d{6}$/;
/** A code of the step before or after counts too: clocks differ, and typing takes time. */
const DRIFT_SECONDS = PERIOD_SECONDS;

export const RECOVERY_CODES = 10;
/** 80 bits, of characters that nobody confuses. */
const randomRecoveryCode = customAlphabet('abcdefghijklmnopqrstuvwxyz234567', 16);

/** Wrong codes in a row, after which none is judged for some time. */
const FAILURES_MAX = 10;
/** Doubled with each lock in a row. */
const LOCK_MS = 15 * 60_000;
const LOCK_MAX_MS = 24 * 3_600_000;

/** What an app needs to show codes. */
export interface NewSecret {
  /** In base 32 without padding. */
  readonly secret: string;
  readonly otpauthUrl: string;
}

/** An attempt to use a code. */
interface Attempt {
  /** UUID v7, that of its audit event if it has one. A retry after a lost answer to COMMIT has the same. */
  readonly id: string;
  readonly otp: string;
  /** Whether the factor must hold already; false for the one that is being set up. */
  readonly isOn: boolean;
  /** That of the caller's login; null for a new login. */
  readonly tokenVersion: number | null;
  /** What an accepted code changes, in its transaction. */
  readonly queries: readonly Query<unknown>[];
}

/** `on` and `off`: the member has a factor or has none, against what the attempt needs. */
type Verdict = 'accepted' | 'wrong' | 'on' | 'off';

/** Second factors: codes of an authenticator app (TOTP, RFC 6238), and recovery codes in their place. */
@Injectable()
export class TwoFactorService {
  private readonly issuer: string;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly database: Database,
    private readonly factors: TwoFactorStore,
    private readonly logins: LoginStore,
    private readonly mails: MemberMailStore,
    private readonly secrets: Secrets,
    private readonly audit: AuditLog,
    sealed: SealedColumns,
  ) {
    this.issuer = new URL(config.publicBaseUrl).hostname;
    sealed.add({ table: 'two_factor', id: 'member_id', column: 'sealed_secret' });
  }

  /**
   * A secret for the member's app, in place of an earlier one that was not confirmed. Nothing holds before `confirm`.
   * @throws Problem `TWO_FACTOR_ON`; `INVALID_TOKEN` if the member was removed
   */
  async begin({ member: { id: memberId, email } }: TokenCaller): Promise<NewSecret> {
    const secret = generateSecret();
    const sealedSecret = this.secrets.seal(secret);
    await this.database.pipelinedTransaction(async (transaction) => {
      const locked = await transaction.one(this.factors.lock(memberId));
      if (!locked) throw new Problem('INVALID_TOKEN');
      if (locked.hasTwoFactor) throw new Problem('TWO_FACTOR_ON');
      const begun = { sealedSecret, lastStep: 0, recoveryHashes: [], acceptedBy: null };
      await transaction.commit([
        locked.factor
          ? // Its failures and locks go on.
            this.factors.update(memberId, begun)
          : this.factors.insert({ memberId, ...begun, failures: 0, locks: 0, lockedUntil: null }),
      ]);
    });
    return { secret, otpauthUrl: generateURI({ issuer: this.issuer, label: email, secret }) };
  }

  /**
   * Makes the secret of `begin` hold, and ends the member's other logins. Returns the recovery codes.
   * @throws Problem `WRONG_OTP`, `TWO_FACTOR_ON`, `TWO_FACTOR_OFF` before `begin`, and as {@link requireOtp}
   */
  async confirm(caller: TokenCaller, otp: string, request: Sender): Promise<readonly string[]> {
    const { id, event, memberId } = this.eventOf(caller, 'two_factor_set_up', request);
    const { codes, hashes } = newRecoveryCodes();
    await this.useOwn(caller, {
      id,
      otp,
      isOn: false,
      queries: [
        this.factors.update(memberId, { recoveryHashes: hashes }),
        this.factors.turn(memberId, true),
        this.logins.endOthers(caller.login),
        event,
      ],
    });
    return codes;
  }

  /**
   * New recovery codes in place of those that are left.
   * @throws Problem `WRONG_OTP`, `TWO_FACTOR_OFF`, and as {@link requireOtp}
   */
  async replaceRecoveryCodes(caller: TokenCaller, otp: string): Promise<readonly string[]> {
    const { codes, hashes } = newRecoveryCodes();
    const replace = this.factors.update(caller.member.id, { recoveryHashes: hashes });
    await this.useOwn(caller, { id: uuidV7(), otp, isOn: true, queries: [replace] });
    return codes;
  }

  /** Removes the factor. @throws Problem `WRONG_OTP`, `TWO_FACTOR_OFF`, and as {@link requireOtp} */
  async disable(caller: TokenCaller, otp: string, request: Sender): Promise<void> {
    const { id, event, memberId } = this.eventOf(caller, 'two_factor_removed', request);
    const queries = [this.factors.delete(memberId), this.factors.turn(memberId, false), event];
    await this.useOwn(caller, { id, otp, isOn: true, queries });
  }

  /**
   * Passes a login with a code that counts, of a member who has a factor.
   * @throws Problem `OTP_REQUIRED`, `WRONG_CREDENTIALS`; `TOO_MANY_ATTEMPTS` while it is locked; `SECRET_UNAVAILABLE`
   */
  async requireOtp(memberId: string, otp: string | undefined): Promise<void> {
    if (otp === undefined) throw new Problem('OTP_REQUIRED');
    const verdict = await this.use(memberId, { id: uuidV7(), otp, isOn: true, tokenVersion: null, queries: [] });
    // `off`: it was removed since the member was read.
    if (verdict === 'wrong') throw new Problem('WRONG_CREDENTIALS');
  }

  private eventOf({ accountId, member: { id: memberId } }: TokenCaller, action: TwoFactorAction, request: Sender) {
    const id = uuidV7();
    const origin = this.audit.originOf(request, memberId);
    return { id, memberId, event: this.audit.record({ id, accountId, action, uuids: [memberId], ...origin }) };
  }

  /** @throws Problem `WRONG_OTP`, `TWO_FACTOR_ON`, `TWO_FACTOR_OFF`, `INVALID_TOKEN` if the caller's login has ended */
  private async useOwn({ member, login }: TokenCaller, attempt: Omit<Attempt, 'tokenVersion'>): Promise<void> {
    const verdict = await this.use(member.id, { ...attempt, tokenVersion: login.tokenVersion });
    if (verdict === 'on') throw new Problem('TWO_FACTOR_ON');
    if (verdict === 'off') throw new Problem('TWO_FACTOR_OFF');
    if (verdict === 'wrong') throw wrongOtp();
  }

  /**
   * Judges a code and uses it up in one transaction that locks the member, so that a code counts once and all failures
   * are counted, however many are sent at once.
   * @throws Problem `TOO_MANY_ATTEMPTS`, `SECRET_UNAVAILABLE`, `INVALID_TOKEN` if the member has another version
   */
  private async use(memberId: string, { id, otp, isOn, tokenVersion, queries }: Attempt): Promise<Verdict> {
    return this.database.pipelinedTransaction<Verdict>(async (transaction) => {
      const [done, locked] = await transaction.all([this.audit.findDone([id]), this.factors.lock(memberId)]);
      if (done.has(id) || locked?.factor?.acceptedBy === id) return 'accepted';
      if (tokenVersion !== null && locked?.tokenVersion !== tokenVersion) throw new Problem('INVALID_TOKEN');
      const factor = factorOf(locked, isOn);
      if (typeof factor === 'string') return factor;
      const now = new Date();
      const lockedMs = (factor.lockedUntil?.getTime() ?? 0) - now.getTime();
      if (lockedMs > 0) throw new Problem('TOO_MANY_ATTEMPTS', { retryAfterSeconds: Math.ceil(lockedMs / 1000) });
      const used = this.judge(factor, otp, now);
      if (used === null) {
        const failure = afterFailure(factor, now);
        const isTold =
          failure.lockedUntil &&
          this.config.mail !== null &&
          (await transaction.one(this.mails.isAllowed('two_factor_locked', locked!, now)));
        const profile = `${this.config.publicBaseUrl}/desk/profile`;
        const mail = isTold ? this.mails.insert('two_factor_locked', locked!, profile, now) : known(undefined);
        await transaction.commit([this.factors.update(memberId, failure), mail]);
        return 'wrong';
      }
      const accepted = { ...used, failures: 0, locks: 0, lockedUntil: null, acceptedBy: id };
      await transaction.commit([this.factors.update(memberId, accepted), ...queries]);
      return 'accepted';
    });
  }

  /** What the use of a code that counts changes; null for a code that does not. @throws Problem `SECRET_UNAVAILABLE` */
  private judge(
    { sealedSecret, lastStep, recoveryHashes }: TwoFactorEntity,
    otp: string,
    now: Date,
  ): Partial<TwoFactorEntity> | null {
    const token = otp.replaceAll(/[\s-]/g, '').toLowerCase();
    if (!CODE.test(token)) {
      const hash = hashKey(token);
      return recoveryHashes.includes(hash) ? { recoveryHashes: recoveryHashes.filter((one) => one !== hash) } : null;
    }
    const secret = this.secrets.open(sealedSecret);
    if (secret === null)
      throw new Problem('SECRET_UNAVAILABLE', { detail: 'This instance cannot decrypt the second factor; try again.' });
    const epoch = Math.floor(now.getTime() / 1000);
    // The library refuses a step beyond those that it tries, as that of a clock which has been put back.
    const afterTimeStep = Math.min(lastStep, Math.floor((epoch + DRIFT_SECONDS) / PERIOD_SECONDS));
    const result = verifySync({ secret, token, epoch, epochTolerance: DRIFT_SECONDS, afterTimeStep });
    return result.valid && 'timeStep' in result ? { lastStep: result.timeStep } : null;
  }
}

type TwoFactorAction = 'two_factor_set_up' | 'two_factor_removed';

/** The factor whose code an attempt may use, or why there is none. */
function factorOf(locked: LockedMember | null, isOn: boolean): TwoFactorEntity | 'on' | 'off' {
  if (locked?.hasTwoFactor && !isOn) return 'on';
  return locked?.factor && locked.hasTwoFactor === isOn ? locked.factor : 'off';
}

function afterFailure({ failures, locks }: TwoFactorEntity, now: Date): Partial<TwoFactorEntity> {
  if (failures + 1 < FAILURES_MAX) return { failures: failures + 1 };
  const waitMs = Math.min(LOCK_MS * 2 ** locks, LOCK_MAX_MS);
  return { failures: 0, locks: locks + 1, lockedUntil: new Date(now.getTime() + waitMs) };
}

function newRecoveryCodes() {
  const codes = Array.from({ length: RECOVERY_CODES }, () => randomRecoveryCode());
  return { codes: codes.map((code) => code.replaceAll(/.{4}(?=.)/g, '$&-')), hashes: codes.map(hashKey) };
}

function wrongOtp(): Problem {
  const message = 'is not a code that counts now';
  return new Problem('WRONG_OTP', { fields: [{ field: 'otp', rule: 'match', message }] });
}
