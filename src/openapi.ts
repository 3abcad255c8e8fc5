import 'reflect-metadata';
import { mkdir, writeFile } from 'node:fs/promises';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule } from './app.module.js';
import { readConfig } from './platform/config/config.js';
import { createAdapter } from './platform/http/server.js';
import { createDocument, type DocumentName, DOCUMENTS, publishable } from './platform/contract/document.js';

// Writes the documents of the contract to openapi/. `preview` creates no providers, so this needs no database.
const config = readConfig({ DATABASE_URL: 'sqlite::memory:' });
const app = await NestFactory.create<NestFastifyApplication>(AppModule.forRoot(config), createAdapter(config), {
  preview: true,
  logger: false,
});
await mkdir('openapi', { recursive: true });
for (const name of Object.keys(DOCUMENTS) as DocumentName[]) {
  const document = publishable(createDocument(app, config.basePath, name));
  await writeFile(`openapi/${DOCUMENTS[name].file}`, `${JSON.stringify(document, null, 2)}\n`);
}
