import { Body, Controller, Delete, Get, HttpCode, Patch, Post, Query, Res } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import {
  ApiAcceptedResponse,
  ApiCreatedResponse,
  ApiExtraModels,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
  getSchemaPath,
} from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { CurrentCaller, MemberOrKey } from '../auth/access.js';
import { REPEAT_PROBLEMS, Repeatable, Write } from '../auth/repeatable.js';
import type { Caller } from '../auth/caller.js';
import { IdParam } from '../platform/contract/fields.js';
import { PageHeaders } from '../platform/http/page-headers.js';
import type { AccountWrite } from '../platform/idempotency/account-write.js';
import { ApiProblems } from '../platform/problems/api-problems.js';
import {
  CreateWebhookDto,
  PAGE_SIZE_MAX,
  DeliveryDto,
  ListDeliveriesDto,
  ReplayDeliveriesDto,
  ReplayedDto,
  UpdateWebhookDto,
  WebhookDto,
  WebhookWithSecretDto,
} from './webhook.dto.js';
import { WebhookService, WEBHOOKS_MAX } from './webhook.service.js';

const WAITLIST_PROBLEMS = ['MISSING_TOKEN', 'INVALID_TOKEN', 'WAITLIST_NOT_FOUND'] as const;
const WEBHOOK_PROBLEMS = [...WAITLIST_PROBLEMS, 'WEBHOOK_NOT_FOUND'] as const;
const WEBHOOK_ID = ['webhook_id', undefined, 'The id of the webhook.'] as const;

/** The operations that take the id of a new webhook. */
const LINKS = Object.fromEntries(
  ['updateWebhook', 'deleteWebhook', 'replaceWebhookSecret', 'testWebhook', 'listDeliveries', 'replayDeliveries'].map(
    (operationId) => [
      operationId,
      { operationId, parameters: { waitlist_id: '$request.path.waitlist_id', webhook_id: '$response.body#/id' } },
    ],
  ),
);

@ApiTags('Webhook')
@ApiExtraModels(WebhookDto, DeliveryDto)
@Controller('api/v1/waitlist/:waitlist_id/webhook')
export class WebhookController {
  constructor(
    private readonly webhooks: WebhookService,
    private readonly pageHeaders: PageHeaders,
  ) {}

  @Post()
  @MemberOrKey({ role: 'editor', scope: 'manage' })
  @Repeatable()
  @ApiOperation({
    summary: 'Create a webhook',
    description: `Returns the webhook with its secret, which is shown only once. From now on, the events of the waitlist are posted to the URL as JSON, signed as [Standard Webhooks](https://www.standardwebhooks.com) says: \`{"event": "new_signup", "signup": {…}}\`, with the contact data and the answers of the person. The URL is 422 (\`public_address\`) if it does not lead to a public address. A waitlist has at most ${WEBHOOKS_MAX} webhooks.`,
  })
  @ApiCreatedResponse({ description: 'The new webhook, with its secret.', type: WebhookWithSecretDto, links: LINKS })
  @ApiProblems(...WAITLIST_PROBLEMS, 'TOO_MANY_WEBHOOKS', ...REPEAT_PROBLEMS, 'WAITLIST_RULE_BROKEN')
  async createWebhook(
    @Write() write: AccountWrite,
    @IdParam('waitlist_id', 1) waitlistId: number,
    @Body() body: CreateWebhookDto,
  ): Promise<WebhookWithSecretDto> {
    const created = await this.webhooks.create(waitlistId, CreateWebhookDto.toSettings(body), write);
    return WebhookWithSecretDto.withSecret(created);
  }

  @Get()
  @MemberOrKey({ role: 'viewer', scope: 'read' })
  @ApiOperation({ summary: 'List the webhooks of a waitlist', description: 'Oldest first. Secrets are not shown.' })
  @ApiOkResponse({
    description: 'All webhooks of the waitlist.',
    schema: { type: 'array', maxItems: WEBHOOKS_MAX, items: { $ref: getSchemaPath(WebhookDto) } },
  })
  @ApiProblems(...WAITLIST_PROBLEMS)
  async listWebhooks(
    @CurrentCaller() caller: Caller,
    @IdParam('waitlist_id', 1) waitlistId: number,
  ): Promise<WebhookDto[]> {
    const webhooks = await this.webhooks.list(caller, waitlistId);
    return webhooks.map((webhook) => WebhookDto.from(webhook));
  }

  @Patch(':webhook_id')
  @MemberOrKey({ role: 'editor', scope: 'manage' })
  @Repeatable()
  @ApiOperation({
    summary: 'Change a webhook',
    description:
      'Omitted fields keep their value. A new URL must meet the same rule as in a new webhook. Pending deliveries go to the new URL.',
  })
  @ApiOkResponse({ description: 'The changed webhook.', type: WebhookDto })
  @ApiProblems(...WEBHOOK_PROBLEMS, ...REPEAT_PROBLEMS, 'WAITLIST_RULE_BROKEN')
  async updateWebhook(
    @Write() write: AccountWrite,
    @IdParam('waitlist_id', 1) waitlistId: number,
    @IdParam(...WEBHOOK_ID) id: number,
    @Body() body: UpdateWebhookDto,
  ): Promise<WebhookDto> {
    const changes = UpdateWebhookDto.toChanges(body);
    return WebhookDto.from(await this.webhooks.update({ waitlistId, id }, changes, write));
  }

  @Delete(':webhook_id')
  @MemberOrKey({ role: 'editor', scope: 'manage' })
  @Repeatable()
  @HttpCode(204)
  @ApiOperation({
    summary: 'Delete a webhook',
    description: 'Nothing more is sent to it. Pending deliveries are not sent.',
  })
  @ApiNoContentResponse({ description: 'Deleted.' })
  @ApiProblems(...WEBHOOK_PROBLEMS, ...REPEAT_PROBLEMS)
  async deleteWebhook(
    @Write() write: AccountWrite,
    @IdParam('waitlist_id', 1) waitlistId: number,
    @IdParam(...WEBHOOK_ID) id: number,
  ): Promise<void> {
    await this.webhooks.delete({ waitlistId, id }, write);
  }

  @Post(':webhook_id/secret')
  @MemberOrKey({ role: 'editor', scope: 'manage' })
  @Repeatable()
  @HttpCode(200)
  @ApiOperation({
    summary: 'Replace the secret of a webhook',
    description:
      'Returns a new secret, which is shown only once. For 24 hours, messages are signed with both secrets, so that a receiver can change to the new one without losing a message.',
  })
  @ApiOkResponse({ description: 'The webhook, with its new secret.', type: WebhookWithSecretDto })
  @ApiProblems(...WEBHOOK_PROBLEMS, ...REPEAT_PROBLEMS)
  async replaceWebhookSecret(
    @Write() write: AccountWrite,
    @IdParam('waitlist_id', 1) waitlistId: number,
    @IdParam(...WEBHOOK_ID) id: number,
  ): Promise<WebhookWithSecretDto> {
    return WebhookWithSecretDto.withSecret(await this.webhooks.replaceSecret({ waitlistId, id }, write));
  }

  @Post(':webhook_id/test')
  @MemberOrKey({ role: 'editor', scope: 'manage' })
  @Repeatable()
  @HttpCode(202)
  @ApiOperation({
    summary: 'Send a test message',
    description:
      'Sends `{"event": "test", "signup": {}}` in the background, as any event. The list of deliveries shows the result.',
  })
  @ApiAcceptedResponse({ description: 'The delivery of the test message.', type: DeliveryDto })
  @ApiProblems(...WEBHOOK_PROBLEMS, 'WEBHOOK_OFF', ...REPEAT_PROBLEMS)
  async testWebhook(
    @Write() write: AccountWrite,
    @IdParam('waitlist_id', 1) waitlistId: number,
    @IdParam(...WEBHOOK_ID) id: number,
  ): Promise<DeliveryDto> {
    return DeliveryDto.from(await this.webhooks.test({ waitlistId, id }, write));
  }

  @Get(':webhook_id/delivery')
  @MemberOrKey({ role: 'viewer', scope: 'read' })
  @ApiOperation({
    summary: 'List the deliveries of a webhook',
    description:
      'Returns the deliveries of the last 30 days, newest first, in pages. The `Link` header leads to the next page.',
  })
  @ApiOkResponse({
    description: 'A page of deliveries.',
    schema: { type: 'array', maxItems: PAGE_SIZE_MAX, items: { $ref: getSchemaPath(DeliveryDto) } },
    headers: { Link: { $ref: '#/components/headers/Link' } },
  })
  @ApiProblems(...WEBHOOK_PROBLEMS)
  async listDeliveries(
    @CurrentCaller() caller: Caller,
    @IdParam('waitlist_id', 1) waitlistId: number,
    @IdParam(...WEBHOOK_ID) id: number,
    @Query() query: ListDeliveriesDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<DeliveryDto[]> {
    const page = await this.webhooks.listDeliveries(caller, { waitlistId, id }, ListDeliveriesDto.toPage(query));
    this.pageHeaders.set(reply, query, page);
    return page.deliveries.map((delivery) => DeliveryDto.from(delivery));
  }

  @Post(':webhook_id/replay')
  @MemberOrKey({ role: 'editor', scope: 'manage' })
  @Repeatable()
  @HttpCode(202)
  // There may be millions of deliveries.
  @RouteConfig({ isLongWork: () => true })
  @ApiOperation({
    summary: 'Send deliveries again',
    description:
      'Gives deliveries another attempt at once, whatever their status: all since a time, or those listed. Each keeps its `webhook-id` and body, and is signed now with the current secret. Payloads are kept for 7 days.',
  })
  @ApiAcceptedResponse({ description: 'How many deliveries are sent again.', type: ReplayedDto })
  @ApiProblems(...WEBHOOK_PROBLEMS, 'WEBHOOK_OFF', ...REPEAT_PROBLEMS)
  async replayDeliveries(
    @Write() write: AccountWrite,
    @IdParam('waitlist_id', 1) waitlistId: number,
    @IdParam(...WEBHOOK_ID) id: number,
    @Body() body: ReplayDeliveriesDto,
  ): Promise<ReplayedDto> {
    const selection = ReplayDeliveriesDto.toSelection(body);
    return { replayed: await this.webhooks.replay({ waitlistId, id }, selection, write) };
  }
}
