import { Injectable } from '@nestjs/common';
import type { DeliveryEntity } from '../outbox/delivery.entity.js';
import { newDelivery, newPayload } from '../outbox/delivery.store.js';
import { MailStore } from '../outbox/mail.store.js';
import { OutboxSignal } from '../outbox/outbox.signal.js';
import type { WebhookEntity } from '../outbox/webhook.entity.js';
import { AuditLog, NO_REQUEST } from '../platform/audit/audit-log.js';
import { Database } from '../platform/database/database.js';
import { known, type Query } from '../platform/database/session.js';
import { type AccountWrite, operatorWrite } from '../platform/idempotency/account-write.js';
import { AccountWriteService, type WriteRecord } from '../platform/idempotency/account-write.service.js';
import { type PageAfter, pageOf } from '../platform/page.js';
import { Problem } from '../platform/problems/problem.js';
import type { Reach } from '../platform/reach.js';
import { SealedColumns } from '../platform/secrets/sealed-columns.js';
import { Secrets } from '../platform/secrets/secrets.js';
import { SsrfGuard } from './ssrf-guard.js';
import { newSecret, type NewWebhook, type ReplaySelection, type WebhookChanges, type WebhookRef } from './webhook.js';
import { WebhookStore } from './webhook.store.js';

/** Webhooks of one waitlist. Each event has a row for each. */
export const WEBHOOKS_MAX = 10;
/** Time for the receivers to learn a new secret. */
const OLD_SECRET_MS = 24 * 3_600_000;
/** Deliveries replayed in one transaction: some ten milliseconds, so that no attempt waits long to be stored. */
const REPLAY_CHUNK = 1_000;
/** Sorts before every UUID. */
const BEFORE_ALL = '';

/** A webhook as its account sees it. */
export interface Webhook extends Pick<WebhookEntity, 'id' | 'url' | 'events' | 'isActive' | 'createdAt'> {
  /** Whether this process can decrypt the secret. */
  readonly secretAvailable: boolean;
}

/** A webhook with a new secret, which is not shown again. */
export interface WebhookWithSecret {
  readonly webhook: Webhook;
  readonly secret: string;
}

export interface DeliveryPage {
  readonly deliveries: readonly DeliveryEntity[];
  /** Where the next page starts; null on the last one. */
  readonly nextAfterId: string | null;
}

/** Operations of accounts on webhooks. They throw `WAITLIST_NOT_FOUND`; those on a webhook also `WEBHOOK_NOT_FOUND`. */
@Injectable()
export class WebhookService {
  constructor(
    private readonly database: Database,
    private readonly webhooks: WebhookStore,
    private readonly writes: AccountWriteService,
    private readonly audit: AuditLog,
    private readonly secrets: Secrets,
    private readonly ssrf: SsrfGuard,
    private readonly mails: MailStore,
    private readonly signal: OutboxSignal,
    sealed: SealedColumns,
  ) {
    sealed.add({ table: 'webhook', id: 'id', column: 'sealed_secret' });
    sealed.add({ table: 'webhook', id: 'id', column: 'sealed_old_secret' });
  }

  /** @throws Problem `WAITLIST_RULE_BROKEN` for a forbidden address, `TOO_MANY_WEBHOOKS` */
  async create(waitlistId: number, settings: NewWebhook, write: AccountWrite): Promise<WebhookWithSecret> {
    const secret = newSecret();
    const sealedSecret = this.secrets.seal(secret);
    const createdOf = (own: readonly WebhookEntity[]): WebhookWithSecret => {
      const created = own.find((webhook) => webhook.sealedSecret === sealedSecret);
      return { webhook: this.view(created ?? throwNotFound()), secret };
    };
    const work = async () => {
      await this.requirePermitted(settings.url);
      return this.database.pipelinedTransaction(async (transaction) => {
        const isNew = await this.writes.isNew(transaction, write);
        const own = found(await transaction.one(this.webhooks.lockOwned(write, waitlistId)));
        // A retry after the answer to COMMIT was lost.
        if (!isNew) return createdOf(own);
        if (own.length >= WEBHOOKS_MAX) throw new Problem('TOO_MANY_WEBHOOKS');
        const unused = { sealedOldSecret: null, oldSecretUntil: null, failingSince: null };
        const row = { ...settings, ...unused, waitlistId, sealedSecret, createdAt: new Date() };
        const [, all] = await transaction.all([this.webhooks.insert(row), this.webhooks.listOwned(write, waitlistId)]);
        const wholeAnswer = createdOf(found(all));
        await transaction.commit([
          this.writes.record(write, { action: 'webhook_created', waitlistId, wholeAnswer, isSecret: true }),
        ]);
        return wholeAnswer;
      });
    };
    return this.writes.once(write, work, ({ wholeAnswer }) => restored(wholeAnswer));
  }

  /** Oldest first. */
  async list(reach: Reach, waitlistId: number): Promise<Webhook[]> {
    const own = found(await this.database.one(this.webhooks.listOwned(reach, waitlistId)));
    return own.map((webhook) => this.view(webhook));
  }

  /** @throws Problem `WAITLIST_RULE_BROKEN` for a forbidden address */
  async update(ref: WebhookRef, changes: WebhookChanges, write: AccountWrite): Promise<Webhook> {
    const { url, isActive } = changes;
    // A new URL, or turning it on, starts a new record of failures.
    const isReset = url !== undefined || isActive === true;
    const isChange = Object.values<unknown>(changes).some((value) => value !== undefined);
    const changed: Partial<WebhookEntity> = { ...changes, ...(isReset && { failingSince: null }) };
    const update = isChange ? this.webhooks.update(ref, changed) : known(undefined);
    const work = async () => {
      await this.getOwned(write, ref);
      if (url !== undefined) await this.requirePermitted(url);
      await this.change(ref, update, { action: 'webhook_updated' }, write);
    };
    await this.writes.once(write, work, () => undefined);
    if (isActive) this.signal.wakeForDeliveries([ref.id]);
    return this.view(await this.getOwned(write, ref));
  }

  /** Its pending deliveries are never sent. */
  async delete(ref: WebhookRef, write: AccountWrite): Promise<void> {
    const work = () => this.change(ref, this.webhooks.delete(ref), { action: 'webhook_deleted' }, write);
    await this.writes.once(write, work, () => undefined);
  }

  /** Returns a new secret. Messages are signed with both secrets for a day. */
  async replaceSecret(ref: WebhookRef, write: AccountWrite): Promise<WebhookWithSecret> {
    const secret = newSecret();
    const sealedSecret = this.secrets.seal(secret);
    const work = async () => {
      const webhook = { ...this.view(await this.getOwned(write, ref)), secretAvailable: true };
      const replacement = this.webhooks.replaceSecret(ref, sealedSecret, new Date(Date.now() + OLD_SECRET_MS));
      const wholeAnswer: WebhookWithSecret = { webhook, secret };
      await this.change(ref, replacement, { action: 'webhook_secret_replaced', wholeAnswer, isSecret: true }, write);
      return wholeAnswer;
    };
    return this.writes.once(write, work, ({ wholeAnswer }) => restored(wholeAnswer));
  }

  /** Returns the delivery of a test message. @throws Problem `WEBHOOK_OFF` */
  async test(ref: WebhookRef, write: AccountWrite): Promise<DeliveryEntity> {
    const { waitlistId, id: webhookId } = ref;
    const at = new Date();
    const payload = newPayload({ waitlistId, waiterUuid: null, body: { event: 'test', signup: {} }, at });
    const delivery = newDelivery(payload, {
      id: payload.id,
      webhookId,
      number: 0,
      event: 'test',
      createdAt: at,
      nextAttemptAt: at,
    });
    const work = async () => {
      requireOn(await this.getOwned(write, ref));
      const record = { action: 'webhook_tested', wholeAnswer: delivery } as const;
      await this.change(ref, this.webhooks.insertDelivery(delivery, payload), record, write);
      return delivery;
    };
    const tested = await this.writes.once<DeliveryEntity>(write, work, ({ wholeAnswer }) => {
      const stored = wholeAnswer as DeliveryEntity;
      return { ...stored, nextAttemptAt: new Date(stored.nextAttemptAt ?? at), createdAt: new Date(stored.createdAt) };
    });
    this.signal.wakeForDeliveries([ref.id]);
    return tested;
  }

  /** A page of deliveries, newest first. */
  async listDeliveries(reach: Reach, ref: WebhookRef, { afterId, limit }: PageAfter<string>): Promise<DeliveryPage> {
    await this.getOwned(reach, ref);
    const found = await this.database.one(this.webhooks.listDeliveries(ref.id, afterId, limit + 1));
    const { items: deliveries, nextAfterId } = pageOf(found, limit);
    return { deliveries, nextAfterId };
  }

  /** Gives deliveries another attempt and returns how many. @throws Problem `WEBHOOK_OFF` */
  async replay(ref: WebhookRef, selection: ReplaySelection, write: AccountWrite): Promise<number> {
    const work = async () => {
      requireOn(await this.getOwned(write, ref));
      return this.replayAll(ref, selection, write);
    };
    const replayed = await this.writes.once(write, work, ({ counts }) => counts.replayed as number);
    this.signal.wakeForDeliveries([ref.id]);
    return replayed;
  }

  /** Replays for the operator, for a webhook of any account. */
  async replayByOperator(id: number, selection: ReplaySelection): Promise<number> {
    const { accountId, waitlistId } = (await this.database.one(this.webhooks.findAccount(id))) ?? throwNotFound();
    return this.replay({ waitlistId, id }, selection, operatorWrite(accountId));
  }

  /** Turns off a webhook that fails, and tells its account by the audit log and a mail to its owners. */
  async turnOff({ id, waitlistId }: WebhookRef): Promise<void> {
    await this.database.transaction(async (manager, session) => {
      const account = await session.one(this.webhooks.findAccount(id));
      if (!account || !(await this.webhooks.turnOff(manager, id))) return;
      const { accountId } = account;
      const owners = await session.one(this.webhooks.findOwners(accountId));
      await session.all([
        this.audit.record({ ...NO_REQUEST, accountId, action: 'webhook_turned_off', waitlistId }),
        this.mails.insertWebhookDisabled(waitlistId, id, owners, new Date()),
      ]);
    });
  }

  /** In chunks: a million deliveries in one transaction would hold up their dispatchers. */
  private async replayAll(ref: WebhookRef, selection: ReplaySelection, write: AccountWrite): Promise<number> {
    let replayed = 0;
    let afterId = BEFORE_ALL;
    for (let isLast = false; !isLast;) {
      const ids = await this.database.one(this.webhooks.findReplayable(ref.id, selection, afterId, REPLAY_CHUNK));
      replayed += ids.length;
      afterId = ids.at(-1) ?? afterId;
      isLast = ids.length < REPLAY_CHUNK;
      const replay = this.webhooks.replay(ids, new Date());
      if (isLast) await this.change(ref, replay, { action: 'deliveries_replayed', counts: { replayed } }, write);
      else await this.database.pipelinedTransaction((transaction) => transaction.commit([replay]));
    }
    return replayed;
  }

  /** Commits a change with its audit event. Does nothing in a retry after the answer to COMMIT was lost. */
  private async change(
    ref: WebhookRef,
    change: Query<unknown>,
    record: Omit<WriteRecord, 'waitlistId'>,
    write: AccountWrite,
  ): Promise<void> {
    const { waitlistId, id } = ref;
    await this.database.pipelinedTransaction(async (transaction) => {
      if (!(await this.writes.isNew(transaction, write))) return;
      const own = found(await transaction.one(this.webhooks.lockOwned(write, waitlistId)));
      if (!own.some((webhook) => webhook.id === id)) throwNotFound();
      await transaction.commit([change, this.writes.record(write, { ...record, waitlistId })]);
    });
  }

  private async getOwned(reach: Reach, { waitlistId, id }: WebhookRef): Promise<WebhookEntity> {
    const own = found(await this.database.one(this.webhooks.listOwned(reach, waitlistId)));
    return own.find((webhook) => webhook.id === id) ?? throwNotFound();
  }

  /** @throws Problem `WAITLIST_RULE_BROKEN` */
  private async requirePermitted(url: string): Promise<void> {
    if (await this.ssrf.isPermitted(new URL(url))) return;
    const message = 'must be an https URL of a public address';
    throw Problem.ruleBroken([{ field: 'url', rule: 'public_address', message }]);
  }

  private view({ id, url, events, isActive, sealedSecret, createdAt }: WebhookEntity): Webhook {
    return { id, url, events, isActive, createdAt, secretAvailable: this.secrets.open(sealedSecret) !== null };
  }
}

function restored(wholeAnswer: unknown): WebhookWithSecret {
  const { webhook, secret } = wholeAnswer as WebhookWithSecret;
  return { webhook: { ...webhook, createdAt: new Date(webhook.createdAt) }, secret };
}

function found(webhooks: WebhookEntity[] | null): WebhookEntity[] {
  if (!webhooks) throw new Problem('WAITLIST_NOT_FOUND');
  return webhooks;
}

function requireOn({ isActive }: WebhookEntity): void {
  if (!isActive) throw new Problem('WEBHOOK_OFF');
}

function throwNotFound(): never {
  throw new Problem('WEBHOOK_NOT_FOUND');
}
