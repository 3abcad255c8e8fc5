import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';

/** The contract, with the schemas of queries too. */
export function createDocument(app: NestFastifyApplication, serverUrl: string): OpenAPIObject {
  const base = new DocumentBuilder()
    .setTitle('Waitlist Service')
    .setDescription(DESCRIPTION)
    .setVersion('1.0.0')
    .setLicense('Apache-2.0', 'https://www.apache.org/licenses/LICENSE-2.0')
    .addServer(serverUrl)
    .addTag('Signup', 'Join a waitlist and see the place in line. Public.')
    .addTag('Auth', 'Tokens for the owner operations.')
    .addTag('Waiter', 'List and offboard the people in line. Owner only.')
    .addTag('Waitlist', "Configure waitlists. Owner only, but for a waitlist's public view.")
    .addBearerAuth(
      { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'The access token.' },
      'access_token',
    )
    .addBearerAuth(
      { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'The refresh token.' },
      'refresh_token',
    )
    .build();
  return SwaggerModule.createDocument(app, base, { operationIdFactory: (_, method) => method });
}

/** Serves the contract at `/openapi.json`, and Swagger UI for it at `/docs`. */
export function serveDocument(app: NestFastifyApplication, document: OpenAPIObject): void {
  SwaggerModule.setup('docs', app, publishable(document), {
    jsonDocumentUrl: 'openapi.json',
    raw: ['json'],
    customSiteTitle: 'Waitlist Service',
    swaggerOptions: { persistAuthorization: true, displayRequestDuration: true, tryItOutEnabled: true },
  });
}

/** What `/openapi.json` serves and `openapi/openapi.json` keeps: a query is spelled out as parameters, its schema left out. */
export function publishable(document: OpenAPIObject): OpenAPIObject {
  const text = JSON.stringify(document);
  const schemas = Object.entries(document.components?.schemas ?? {});
  const used = schemas.filter(([name]) => text.includes(`"#/components/schemas/${name}"`));
  return { ...document, components: { ...document.components, schemas: Object.fromEntries(used) } };
}

const DESCRIPTION = `People join a waitlist on a public page, see their place in line, and move up by referring others;
owners list and offboard them.`;
