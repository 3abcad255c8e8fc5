import { Body, Controller, Get, HttpCode, Ip, Post, Query, Res } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiConsumes, ApiOkResponse, ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { LiveConnections } from '../platform/limits/live-connections.js';
import { Public } from '../platform/http/public.js';
import { ApiProblems } from '../platform/problems/api-problems.js';
import { RateLimited } from '../platform/limits/rate-limits.js';
import { captchaWaitMs } from './captcha.service.js';
import { LivePlaces } from './live-places.js';
import { GetPlaceDto, PlaceDto } from './place.dto.js';
import { CreateSignupDto, GetSignupDto, SignupDto } from './signup.dto.js';
import { SignupService } from './signup.service.js';

const PLACE_EVENT =
  'event: place\ndata: {"status":"waiting","priority":41,"joined_priority":50,"referrals":{"count":2,"spots":6},"others":3,"next_referral_priority":38,"estimate":null,"offer_expires_at":null}\n\n';

@ApiTags('Signup')
@Public()
@Controller('api/v1/signup')
export class SignupController {
  constructor(
    private readonly signups: SignupService,
    private readonly live: LivePlaces,
    private readonly connections: LiveConnections,
  ) {}

  @Post()
  @HttpCode(200)
  @RouteConfig({ rateLimited: 'public', takesForms: true, waitsMs: captchaWaitMs })
  @ApiOperation({
    summary: 'Create a Signup',
    description: [
      'Adds a record to the end of the queue. If the waitlist already has the email or phone, returns the existing record, unchanged. The status is 200 in both cases, so it does not reveal earlier signups.',
      'The owner decides which contact data and answers are required. A new record that breaks such a rule gets 422 with the fields; a closed waitlist refuses all new records with 422 `WAITLIST_CLOSED`. Both count as unsuccessful lookups. If the waitlist has a `captcha`, a request without a valid `captcha_token` gets 422, whether the record exists or not.',
      'The body may be a form: metadata is `metadata[key]`; `answers[0]` answers the question whose id is `question_ids[0]`, or the first question if there is none. A form that is sent with `Accept: text/html` is answered with pages: a signup with 303 to the private page of the record. Other bodies are answered with JSON, whatever `Accept` says.',
    ].join('\n\n'),
  })
  @ApiConsumes('application/json', 'application/x-www-form-urlencoded')
  @ApiOkResponse({ description: 'The record, new or existing.', type: SignupDto })
  @ApiResponse({ status: 303, description: 'To a form of a page: the private page of the record is at `Location`.' })
  @ApiProblems('WAITLIST_NOT_FOUND', 'WAITLIST_RULE_BROKEN', 'WAITLIST_CLOSED', 'TOO_MANY_MISSES')
  async createSignup(@Body() body: CreateSignupDto, @Ip() address: string): Promise<SignupDto> {
    return SignupDto.from(await this.signups.join(CreateSignupDto.toRequest(body), address));
  }

  @Get()
  @RateLimited('public')
  @ApiOperation({
    summary: 'Get a Signup',
    description:
      'Finds a record by its email, phone or uuid. If email and phone are given and match different records, the email decides. The response shows only the contact data that the request had, and none with a `uuid`. Unsuccessful lookups are limited by address to a tenth of the request limit per minute. Beyond that, all lookups get 429 until the minute ends; signups are still accepted.',
  })
  @ApiOkResponse({ description: 'The record.', type: SignupDto })
  @ApiResponse({
    status: 303,
    description:
      'To a browser (`Accept` prefers `text/html`) that sends a `waitlist_id` alone: the page of the waitlist is at `Location`.',
  })
  @ApiProblems('WAITLIST_NOT_FOUND', 'NO_WAITER_FOUND', 'TOO_MANY_MISSES')
  async getSignup(@Query() query: GetSignupDto, @Ip() address: string): Promise<SignupDto> {
    return SignupDto.from(await this.signups.find(query, GetSignupDto.toSought(query), address));
  }

  @Get('place')
  @RateLimited('public')
  @ApiOperation({
    summary: 'Get a Place',
    description:
      'Explains the place of a record in the queue: where it joined, how its referrals, others and the owner moved it, what one more referral would give, and when it may leave the queue. Referrals whose credit is withheld or refused are not shown. Unsuccessful lookups are limited as those of `GET /api/v1/signup`.',
  })
  @ApiOkResponse({ description: 'The place.', type: PlaceDto })
  @ApiProblems('WAITLIST_NOT_FOUND', 'NO_WAITER_FOUND', 'TOO_MANY_MISSES')
  async getPlace(@Query() query: GetPlaceDto, @Ip() address: string): Promise<PlaceDto> {
    const { place } = await this.signups.findPlace(query, query.uuid.toLowerCase(), address);
    return PlaceDto.from(place);
  }

  @Get('events')
  @RouteConfig({ rateLimited: 'public', isLive: true })
  @ApiOperation({
    summary: 'Watch a Place',
    description: [
      'A stream of server-sent events, for `EventSource`. The data of the event `place` is the object of `GET /api/v1/signup/place`. It is sent at once, and after each change, at most every two seconds. A comment is sent every 15 seconds. The event `end` means that the record was erased or its waitlist deleted: close the connection.',
      'An instance that shuts down sends `retry`, the time after which to connect again, and closes the connection. The operator sets how many connections an instance accepts; one address may have 20. A browser does not repeat a request of `EventSource` that was refused: make a new one after a minute, and call `GET /api/v1/signup/place` meanwhile.',
    ].join('\n\n'),
  })
  @ApiOkResponse({
    description: 'The events.',
    content: { 'text/event-stream': { schema: { type: 'string' }, example: PLACE_EVENT } },
  })
  @ApiProblems(
    'NOT_FOUND',
    'WAITLIST_NOT_FOUND',
    'NO_WAITER_FOUND',
    'TOO_MANY_MISSES',
    'TOO_MANY_LIVE_CONNECTIONS',
    'LIVE_CONNECTIONS_FULL',
  )
  async watchPlace(@Query() query: GetPlaceDto, @Ip() address: string, @Res() reply: FastifyReply): Promise<void> {
    const found = await this.signups.findPlace(query, query.uuid.toLowerCase(), address);
    // The request deadline may have answered already.
    if (!reply.sent) this.live.watch(found, this.connections.open(reply));
  }
}
