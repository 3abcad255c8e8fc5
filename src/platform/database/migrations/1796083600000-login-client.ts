import { addColumn, migrationsOf } from './ddl.js';

/** The browser and the system of a login. */
export const loginClient = migrationsOf(1796083600000, [addColumn('login', 'client', (is) => `${is.text(100)} NULL`)]);
