import { MailDispatcher } from '../../src/mail/mail.dispatcher.js';
import { type Arrived, MailServer } from './mail-server.js';
import { type Service, startService } from './service.js';

/** No limit and no bound of networks counts this address, from which a test calls unless it says otherwise. */
export const EXEMPT = '127.0.0.1';
/** The service is behind a proxy that serves it below a path, and strips the path. */
export const BASE = 'https://example.com/lists';

/** A service that sends mails to a server of its own, with its background tasks. */
export interface MailingService extends Service {
  readonly mail: MailServer;
  /** The mails to an address, once there are `count`. */
  mailsTo(email: string, count?: number): Promise<[Arrived, ...Arrived[]]>;
}

export async function startMailingService(environment: Readonly<Record<string, string>> = {}): Promise<MailingService> {
  const mail = await MailServer.start();
  const own = { SMTP_URL: mail.url, MAIL_FROM: 'launch@example.com', PUBLIC_BASE_URL: BASE, RATE_LIMIT_EXEMPT: EXEMPT };
  const service = await startService({ environment: { ...own, ...environment } });
  service.startTasks();
  return {
    ...service,
    mail,
    mailsTo: async (email, count) => {
      service.app.get(MailDispatcher).wake();
      return mail.mailsTo(email, count);
    },
    stop: async () => {
      await service.stop();
      await mail.stop();
    },
  };
}
