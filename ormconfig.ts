import { fileURLToPath } from 'node:url';
import { DataSource } from 'typeorm';
import { readConfig } from './src/platform/config/config.js';
import { dataSourceOptions } from './src/platform/database/data-source-options.js';

const entities = fileURLToPath(new URL('src/**/*.entity.{ts,js}', import.meta.url));

/** The data source for TypeORM's own command line; the service's is `npm run cli -- migrate`. */
export default new DataSource({ ...dataSourceOptions(readConfig().database), entities: [entities] });
