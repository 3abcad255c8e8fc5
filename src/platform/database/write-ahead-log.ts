import { Injectable } from '@nestjs/common';
import { BackgroundTask, BackgroundTasks } from '../background-task.js';
import { Database } from './database.js';
import { select } from './session.js';

/** Between two attempts while another connection reads the log. */
const RETRY_MS = 5_000;

interface Checkpoint {
  /** 1 if another connection kept the log from being emptied. */
  readonly busy: number;
}

/**
 * The write-ahead log of the embedded database. With `secure_delete`, SQLite overwrites deleted rows in its file, but
 * the log still contains the earlier pages. So it is emptied after each deletion of personal data, and at the start: an
 * earlier process may have been killed after one. With a database server, this does nothing.
 */
@Injectable()
export class WriteAheadLog {
  private readonly task = new BackgroundTask(() => this.truncate(), RETRY_MS);
  private isDue: boolean;

  constructor(
    private readonly database: Database,
    tasks: BackgroundTasks,
  ) {
    tasks.add(this.task, 'could not empty the write-ahead log yet');
    this.isDue = database.dialect.isEmbedded;
  }

  /** Empties the log in the background. Call it after the commit of a deletion. */
  empty(): void {
    this.isDue = this.database.dialect.isEmbedded;
    this.task.wake();
  }

  private async truncate(): Promise<void> {
    if (!this.isDue) return;
    const checkpoint = select<Checkpoint, boolean>('PRAGMA wal_checkpoint(TRUNCATE)', [], ([row]) => row?.busy === 0);
    this.isDue = false;
    let isEmpty = false;
    try {
      isEmpty = await this.database.one(checkpoint);
    } finally {
      this.isDue ||= !isEmpty;
    }
  }
}
