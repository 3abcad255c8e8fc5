import 'reflect-metadata';
import { randomBytes } from 'node:crypto';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AppModule } from '../app.module.js';
import { type Account, AccountService } from '../account/account.service.js';
import { AccountKeyService } from '../account/account-key.service.js';
import { MemberLinkService } from '../account/member-link.service.js';
import { MemberService } from '../account/member.service.js';
import { AccountKeyDto, CreateAccountKeyDto, CreatedAccountKeyDto } from '../auth/account-key.dto.js';
import { AuditEventDto } from '../auth/audit.dto.js';
import { InviteMemberDto, MemberDto } from '../auth/member.dto.js';
import { type AuditFilter, AuditLog } from '../platform/audit/audit-log.js';
import { type Config, readConfig } from '../platform/config/config.js';
import { readRequest } from '../platform/contract/request.js';
import { Database } from '../platform/database/database.js';
import { migrate, prepareSchema } from '../platform/database/migrator.js';
import { operatorWrite } from '../platform/idempotency/account-write.js';
import { allOf } from '../platform/reach.js';
import { QueueAuditor } from '../queue/maintenance/auditor.js';
import { QueuePurger } from '../queue/maintenance/purger.js';
import { QueueSeeder } from '../queue/maintenance/seeder.js';
import { checkFirstOwner } from './first-start.js';
import { ExportService } from '../transfer/export.service.js';
import { ImportService } from '../transfer/import.service.js';
import { CreateWaitlistDto } from '../waitlist/waitlist.dto.js';
import { WaitlistService } from '../waitlist/waitlist.service.js';
import { ReplayDeliveriesDto } from '../webhook/webhook.dto.js';
import { WebhookService } from '../webhook/webhook.service.js';

/**
 * Runs a command with the application's services, without the HTTP server.
 * @throws ConfigError
 * @throws SchemaError if `needsSchema` and the schema of a shared database is outdated
 */
export async function withServices(
  command: (services: ReturnType<typeof servicesOf>) => Promise<void>,
  { needsSchema = true, checksSettings = false }: { needsSchema?: boolean; checksSettings?: boolean } = {},
): Promise<void> {
  // No command signs tokens, so none needs the real secret.
  const anySecret = { JWT_SECRET: randomBytes(32).toString('hex'), JWT_SECRET_FILE: '' };
  const config = readConfig({ ...process.env, ...(!checksSettings && anySecret) });
  const app = await NestFactory.createApplicationContext(AppModule.forRoot(config), {
    logger: false,
    abortOnError: false,
  });
  try {
    if (needsSchema) await prepareSchema(app.get(Database).dataSource);
    await command(servicesOf(app, config));
  } finally {
    await app.close();
  }
}

/** Members that the command line reads at once. */
const MEMBERS_PER_READ = 100;

function servicesOf(app: INestApplicationContext, config: Config) {
  return {
    ownerPassword: config.firstOwner.password,
    passwordLogin: config.passwordLogin,
    checkFirstOwner: () => checkFirstOwner(app, config),
    accounts: app.get(AccountService),
    members: app.get(MemberService),
    waitlists: app.get(WaitlistService),
    auditor: app.get(QueueAuditor),
    purger: app.get(QueuePurger),
    seeder: app.get(QueueSeeder),
    exports: app.get(ExportService),
    imports: app.get(ImportService),
    operatorWrite,
    allOf,
    /** The rules of the fields are those of the API. @throws Problem `INVALID_REQUEST`, `TOO_MANY_ACCOUNT_KEYS` */
    createAccountKey: async ({ id }: Account, body: Partial<CreateAccountKeyDto>) => {
      const settings = CreateAccountKeyDto.toSettings(readRequest(CreateAccountKeyDto, body));
      return CreatedAccountKeyDto.withSecret(await app.get(AccountKeyService).create(settings, operatorWrite(id)));
    },
    listAccountKeys: async ({ id }: Account) =>
      (await app.get(AccountKeyService).list(id)).map((key) => AccountKeyDto.from(key)),
    revokeAccountKey: ({ id: accountId }: Account, id: number) =>
      app.get(AccountKeyService).revoke(id, operatorWrite(accountId)),
    /**
     * The link of an invitation that is not mailed: only the service has the secret under which mails wait. The rules
     * of the fields are those of the API. @throws Problem `INVALID_REQUEST`, `EMAIL_TAKEN`, `TOO_MANY_MEMBERS`
     */
    inviteMember: async ({ id }: Account, body: Partial<InviteMemberDto>) => {
      const invitee = InviteMemberDto.toInvitee(readRequest(InviteMemberDto, body));
      const links = app.get(MemberLinkService);
      return (await links.invite(invitee, operatorWrite(id), { isMailOn: false })).invitationUrl;
    },
    /** All members of one account, or of all. */
    async *listMembers(this: void, account: Account | null) {
      const accounts = account ? [account] : await app.get(AccountService).list();
      for (const { id } of accounts) {
        let afterId: string | null = null;
        do {
          const page = await app.get(MemberService).list(id, { afterId, limit: MEMBERS_PER_READ });
          for (const member of page.members) yield MemberDto.from(member, app.get(MemberService).signInsOf(member));
          afterId = page.nextAfterId;
        } while (afterId !== null);
      }
    },
    /** The events of one account, or of all. */
    listAuditEvents: async (account: Account | null, filter: AuditFilter) => {
      const { events } = await app.get(AuditLog).list(account && allOf(account.id), filter);
      const accounts = account ? [account] : await app.get(AccountService).list();
      const uuids = new Map(accounts.map(({ id, uuid }) => [id, uuid]));
      return events.map((event) => AuditEventDto.from(event, uuids.get(event.accountId) ?? ''));
    },
    /** Those named, or since a moment; by default all. @throws Problem `WEBHOOK_NOT_FOUND`, `WEBHOOK_OFF` */
    replayDeliveries: (
      webhookId: number,
      { since = '1970-01-01T00:00:00Z', delivery }: { since?: string; delivery?: readonly string[] },
    ) => {
      const body = delivery === undefined ? { since } : { delivery_ids: delivery };
      const selection = ReplayDeliveriesDto.toSelection(readRequest(ReplayDeliveriesDto, body));
      return app.get(WebhookService).replayByOperator(webhookId, selection);
    },
    migrate: (options: { isForced?: boolean }) => migrate(app.get(Database).dataSource, options),
    /** Settings of a new waitlist, held to the rules of the API. @throws Problem `INVALID_REQUEST` */
    readSettings: (body: Partial<CreateWaitlistDto>) =>
      CreateWaitlistDto.toSettings(readRequest(CreateWaitlistDto, body)),
  };
}
