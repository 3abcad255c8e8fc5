import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { type Config, CONFIG } from '../config/config.js';

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Keys derived from JWT_SECRET (HKDF, RFC 5869), one for each purpose, so that none serves two. */
@Injectable()
export class Secrets {
  /** Derived once: that takes ten times as long as a hash. */
  private readonly keys = new Map<string, Buffer>();

  constructor(@Inject(CONFIG) private readonly config: Config) {}

  /** The id of the secret that encrypts: the first in JWT_SECRET. */
  get currentId(): string {
    return secretId(this.config.jwtSecrets[0] ?? '');
  }

  /** The ids of all secrets that decrypt. */
  get ids(): string[] {
    return this.config.jwtSecrets.map(secretId);
  }

  /** A keyed hash of an identifying text, such as a network address: without the key, no guess can be tested. */
  hash(purpose: string, text: string): string {
    const [secret = ''] = this.config.jwtSecrets;
    return createHmac('sha256', this.keyOf(secret, purpose)).update(text).digest('base64url');
  }

  /** Encrypts a text. The result starts with the id of its secret and a dot. */
  seal(text: string): string {
    const [secret = ''] = this.config.jwtSecrets;
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, this.keyOf(secret, 'seal'), iv);
    const sealed = Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return `${secretId(secret)}.${sealed.toString('base64url')}`;
  }

  /** The text, or null if it was encrypted under a secret that this process does not list. */
  open(sealed: string): string | null {
    const [id = '', encoded = ''] = sealed.split('.');
    const secret = this.config.jwtSecrets.find((candidate) => secretId(candidate) === id);
    if (secret === undefined) return null;
    const bytes = Buffer.from(encoded, 'base64url');
    const decipher = createDecipheriv(CIPHER, this.keyOf(secret, 'seal'), bytes.subarray(0, IV_BYTES));
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
    return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]).toString('utf8');
  }

  private keyOf(secret: string, purpose: string): Buffer {
    const name = `${purpose} ${secret}`;
    const key = this.keys.get(name) ?? Buffer.from(hkdfSync('sha256', secret, '', purpose, KEY_BYTES));
    this.keys.set(name, key);
    return key;
  }
}

/** Names a secret without revealing it. */
export function secretId(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url').slice(0, 8);
}
