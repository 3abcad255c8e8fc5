import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer } from 'smtp-server';
import { freePort, until } from './service-process.js';

/** A mail as it arrived. */
export interface Arrived extends Email {
  readonly to: NonNullable<Email['to']>;
  readonly raw: string;
  /** The path of the link in it, below the service's own; null without one. */
  readonly link: string | null;
  /** The same of the link to leave at its end. */
  readonly leaveLink: string | null;
  /** The same of the page of an offer. */
  readonly offerLink: string | null;
  /** The token of a link for a member. */
  readonly token: string | null;
}

/** A status with which the server refuses a recipient, or silence. */
type Refusal = number | 'silence';

/** A real SMTP server, which can be stopped, and refuses recipients as a test says. */
export class MailServer {
  readonly arrived: Arrived[] = [];
  /** The recipients of all attempts. */
  readonly tried: string[] = [];
  private readonly refusals = new Map<string, Refusal>();
  private readonly silent = new Map<string, () => void>();
  private server: SMTPServer | undefined;

  private constructor(
    readonly port: number,
    private readonly address: string,
  ) {}

  /** Without a port on a free one. */
  static async start(port?: number, address = '127.0.0.1'): Promise<MailServer> {
    const server = new MailServer(port ?? (await freePort()), address);
    await server.listen();
    return server;
  }

  get url(): string {
    return `smtp://${this.address}:${this.port}`;
  }

  async listen(): Promise<void> {
    this.server = new SMTPServer({
      authOptional: true,
      disabledCommands: ['AUTH', 'STARTTLS'],
      onRcptTo: ({ address }, _, answer) => {
        this.tried.push(address);
        const refusal = this.refusals.get(address);
        if (refusal === 'silence') this.silent.set(address, () => answer());
        else if (refusal === undefined) answer();
        else answer(Object.assign(new Error('no'), { responseCode: refusal }));
      },
      onData: (stream, _, answer) => {
        buffer(stream)
          .then((raw) => this.keep(raw))
          .then(() => answer(), answer);
      },
    });
    this.server.on('error', () => undefined);
    this.server.listen(this.port, this.address);
    await once(this.server.server, 'listening');
  }

  /** Ends all connections, as a server that crashes. */
  async stop(): Promise<void> {
    const { server } = this;
    if (!server) return;
    this.server = undefined;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const connection of server.connections) connection.close();
    await closed;
  }

  /** Refuses the recipient from now on. */
  refuse(address: string, refusal: Refusal): void {
    this.refusals.set(address, refusal);
  }

  /** Accepts the recipient again, and answers the attempts that wait. */
  accept(address: string): void {
    this.refusals.delete(address);
    this.silent.get(address)?.();
    this.silent.delete(address);
  }

  /** The mails to an address, once there are `count`. */
  async mailsTo(address: string, count = 1): Promise<[Arrived, ...Arrived[]]> {
    const find = () => this.arrived.filter(({ to }) => to.some((recipient) => recipient.address === address));
    await until(() => find().length >= count);
    return find() as [Arrived, ...Arrived[]];
  }

  private async keep(raw: Buffer): Promise<void> {
    const email = await PostalMime.parse(raw);
    const linkTo = (page: string) =>
      new RegExp(String.raw`https?://\S+(/waitlist/\d+/${page}/[\w-]+)`).exec(email.text ?? '')?.[1] ?? null;
    const links = { link: linkTo('verify'), leaveLink: linkTo('leave'), offerLink: linkTo('offer') };
    const token = /https?:\/\/\S+\/desk\/(?:invitation|reset)#([\w-]+)/.exec(email.text ?? '')?.[1] ?? null;
    this.arrived.push({ ...email, to: email.to ?? [], raw: raw.toString(), ...links, token });
  }
}
