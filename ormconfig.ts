import { DataSource } from 'typeorm';
import { entities } from './src/app.module.js';
import { readConfig } from './src/platform/config/config.js';
import { dataSourceOptions } from './src/platform/database/data-source-options.js';

/** The data source for TypeORM's own command line; the service's is `npm run cli -- migrate`. */
export default new DataSource(dataSourceOptions(readConfig().database, entities));
