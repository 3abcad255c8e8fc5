import { describe, expect, it } from '@jest/globals';
import { QueryFailedError } from 'typeorm';
import { isUnavailable } from '../problems/problem.js';
import { asProblem, isAway, reasonToRepeat } from './database-error.js';

type Fields = Readonly<Record<string, unknown>>;

function failed(fields: Fields): QueryFailedError {
  return new QueryFailedError('SELECT 1', [], Object.assign(new Error('from the driver'), fields));
}

describe('a database error: whether to repeat the work and what to answer', () => {
  it.each<[string, Fields, { reasonToRepeat?: string; isAway: boolean; isUnavailable: boolean }]>([
    ['a deadlock', { code: 'ER_LOCK_DEADLOCK', errno: 1213 }, { reasonToRepeat: '1213', isAway: false, isUnavailable: true }],
    ['a conflict in group replication', { errno: 3101 }, { reasonToRepeat: '3101', isAway: false, isUnavailable: true }],
    ['a table that a migration changed', { errno: 1412 }, { reasonToRepeat: '1412', isAway: false, isUnavailable: true }],
    ['an error of the storage engine', { errno: 1030 }, { isAway: false, isUnavailable: true }],
    ["a statement over MySQL's time limit", { errno: 3024 }, { isAway: false, isUnavailable: true }],
    ["a statement over MariaDB's time limit", { errno: 1969 }, { isAway: false, isUnavailable: true }],
    ['a read-only server', { errno: 1290 }, { reasonToRepeat: '1290', isAway: true, isUnavailable: true }],
    ['a node outside its cluster', { errno: 1047 }, { reasonToRepeat: '1047', isAway: true, isUnavailable: true }],
    ['a lost connection', { code: 'PROTOCOL_CONNECTION_LOST', fatal: true }, { reasonToRepeat: 'PROTOCOL_CONNECTION_LOST', isAway: true, isUnavailable: true }],
    ['a refused connection', { code: 'ECONNREFUSED', errno: -111 }, { reasonToRepeat: 'ECONNREFUSED', isAway: true, isUnavailable: true }],
    ['a connection in closed state, which has no code', { fatal: true }, { reasonToRepeat: 'FATAL', isAway: true, isUnavailable: true }],
    ['a full disk', { errno: 1114 }, { isAway: false, isUnavailable: true }],
    ['a full disk of the embedded database', { code: 'ERR_SQLITE_ERROR', errcode: 13 }, { isAway: false, isUnavailable: true }],
    ['a busy embedded database', { code: 'ERR_SQLITE_ERROR', errcode: 261 }, { reasonToRepeat: 'SQLITE_BUSY', isAway: false, isUnavailable: true }],
    ['a bug in our SQL', { code: 'ER_PARSE_ERROR', errno: 1064 }, { isAway: false, isUnavailable: false }],
  ])('%s', (_, fields, expected) => {
    const error = failed(fields);

    expect({ reasonToRepeat: reasonToRepeat(error), isAway: isAway(error), isUnavailable: isUnavailable(asProblem(error)) }).toEqual(expected);
  }); // prettier-ignore
});
