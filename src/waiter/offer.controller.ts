import { Body, Controller, HttpCode, Post, type StreamableFile } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiBody, ApiExtraModels, ApiOkResponse, ApiOperation, ApiTags, getSchemaPath } from '@nestjs/swagger';
import { CurrentCaller, MemberOrKey } from '../auth/access.js';
import { REPEAT_PROBLEMS, Repeatable, Write } from '../auth/repeatable.js';
import type { Caller } from '../auth/caller.js';
import { IdParam, UuidParam } from '../platform/contract/fields.js';
import { jsonArray } from '../platform/http/json-array.js';
import type { AccountWrite } from '../platform/idempotency/account-write.js';
import { ApiProblems } from '../platform/problems/api-problems.js';
import { QueueReader } from '../queue/read/queue.reader.js';
import { WaitlistService } from '../waitlist/waitlist.service.js';
import { isLongCall, RECORDS_BODY_MAX_BYTES, RECORDS_PER_CALL_MAX } from './bounds.js';
import { uuidsOf } from './named-signups.dto.js';
import {
  MakeOffersDto,
  OfferCodeDto,
  OfferDto,
  OfferedWaiterDto,
  OfferLinkDto,
  ReturnWaitersDto,
} from './offer.dto.js';
import { OfferService } from './offer.service.js';
import { WaiterDto } from './waiter.dto.js';

/** `/docs` fills in the first one, which changes nothing. */
const NEW_OFFERS = {
  preview: { summary: 'Who would be next', value: { count: 10, dry_run: true } },
  next: { summary: 'The first of the queue', value: { count: 10 } },
};

@ApiTags('Offer')
@ApiExtraModels(OfferedWaiterDto, WaiterDto)
@Controller('api/v1')
export class OfferController {
  constructor(
    private readonly waitlists: WaitlistService,
    private readonly offers: OfferService,
    private readonly reader: QueueReader,
  ) {}

  @Post('waitlist/:waitlist_id/offer')
  @MemberOrKey({ role: 'editor', scope: 'manage' })
  @Repeatable()
  @HttpCode(200)
  @RouteConfig({ bodyMaxBytes: RECORDS_BODY_MAX_BYTES, isLongWork: isLongCall })
  @ApiOperation({
    summary: 'Offer Waiters a seat',
    description:
      'Offers a seat to Waiters: the first ones of the queue with `count`, or those in `signups`. It offers to all of them or none. They leave the queue, and keep their last `priority` until they accept or decline, or the offer expires. If the service sends mail, Waiters with an email get the link by mail, and their time begins when it is sent. Returns the Waiters who got an offer, in the order of the queue or of `signups`. It ignores uuids that are unknown, belong to another waitlist, are repeated, or are not waiting.',
  })
  @ApiBody({ type: MakeOffersDto, examples: NEW_OFFERS })
  @ApiOkResponse({
    description: 'The Waiters with their offers. In a dry run, the Waiters who would get one, as they are now.',
    schema: { type: 'array', maxItems: RECORDS_PER_CALL_MAX, items: { $ref: getSchemaPath(OfferedWaiterDto) } },
  })
  @ApiProblems('MISSING_TOKEN', 'INVALID_TOKEN', 'WAITLIST_NOT_FOUND', ...REPEAT_PROBLEMS)
  async makeOffers(
    @CurrentCaller() caller: Caller,
    @Write() write: AccountWrite,
    @IdParam('waitlist_id', 1) id: number,
    @Body() body: MakeOffersDto,
  ): Promise<OfferedWaiterDto[] | StreamableFile> {
    const waitlist = await this.waitlists.get(caller, id);
    const request = MakeOffersDto.toRequest(body);
    const { accountUuid } = caller;
    if (body.dry_run) {
      const view = { waitlist, accountUuid, totalCurrently: waitlist.active };
      return jsonArray(await this.offers.preview(id, request), async (some) => {
        const waiters = await this.reader.findByUuids(id, some);
        return waiters.filter(({ status }) => status === 'waiting').map((waiter) => WaiterDto.from(waiter, view));
      });
    }
    const { uuids, active } = await this.offers.make(id, request, write);
    const view = { waitlist, accountUuid, totalCurrently: active };
    return jsonArray(uuids, async (some) => {
      const [waiters, links] = await Promise.all([this.reader.findByUuids(id, some), this.offers.linksOf(id, some)]);
      return waiters.map((waiter) => OfferedWaiterDto.withLink(waiter, view, links.get(waiter.uuid)));
    });
  }

  @Post('waitlist/:waitlist_id/return')
  @MemberOrKey({ role: 'editor', scope: 'manage' })
  @Repeatable()
  @HttpCode(200)
  @RouteConfig({ bodyMaxBytes: RECORDS_BODY_MAX_BYTES, isLongWork: isLongCall })
  @ApiOperation({
    summary: 'Return Waiters to the queue',
    description:
      'Brings offered and offboarded Waiters back to the queue, all of them or none, at the position that their signup, referrals and spots give now. It makes no difference why they were offboarded. Their open or accepted offers are withdrawn. Returns the Waiters who came back, in the order of `signups`. It ignores uuids that are unknown, belong to another waitlist, are repeated, or are neither offered nor offboarded.',
  })
  @ApiOkResponse({
    description: 'The Waiters who came back.',
    schema: { type: 'array', maxItems: RECORDS_PER_CALL_MAX, items: { $ref: getSchemaPath(WaiterDto) } },
  })
  @ApiProblems('MISSING_TOKEN', 'INVALID_TOKEN', 'WAITLIST_NOT_FOUND', ...REPEAT_PROBLEMS)
  async returnWaiters(
    @CurrentCaller() caller: Caller,
    @Write() write: AccountWrite,
    @IdParam('waitlist_id', 1) id: number,
    @Body() body: ReturnWaitersDto,
  ): Promise<WaiterDto[] | StreamableFile> {
    const waitlist = await this.waitlists.get(caller, id);
    const { uuids, active } = await this.offers.returnToQueue(id, uuidsOf(body), write);
    const view = { waitlist, accountUuid: caller.accountUuid, totalCurrently: active };
    return jsonArray(uuids, async (some) => {
      const waiters = await this.reader.findByUuids(id, some);
      return waiters.map((waiter) => WaiterDto.from(waiter, view));
    });
  }

  @Post('offer/check')
  @MemberOrKey({ role: 'viewer', scope: 'read' })
  @HttpCode(200)
  @ApiOperation({
    summary: 'Check the code of an offer',
    description:
      'Returns the state of the offer with this code, and its Waiter. Changes nothing. Anyone who has the code can use it, so bind it to one user of your product, once.',
  })
  @ApiOkResponse({ description: 'The offer.', type: OfferDto })
  @ApiProblems('MISSING_TOKEN', 'INVALID_TOKEN', 'OFFER_NOT_FOUND')
  async checkOffer(@CurrentCaller() caller: Caller, @Body() { code }: OfferCodeDto): Promise<OfferDto> {
    return OfferDto.from(await this.offers.check(caller, code), caller.accountUuid);
  }

  @Post('offer/accept')
  @MemberOrKey({ role: 'editor', scope: 'manage' })
  @Repeatable()
  @HttpCode(200)
  @ApiOperation({
    summary: 'Accept an offer',
    description:
      'Accepts the offer with this code for its Waiter, as the button on the page of the offer does. Changes nothing if the offer is accepted already.',
  })
  @ApiOkResponse({ description: 'The accepted offer.', type: OfferDto })
  @ApiProblems('MISSING_TOKEN', 'INVALID_TOKEN', 'OFFER_NOT_FOUND', 'OFFER_ENDED', ...REPEAT_PROBLEMS)
  async acceptOffer(
    @CurrentCaller() caller: Caller,
    @Write() write: AccountWrite,
    @Body() { code }: OfferCodeDto,
  ): Promise<OfferDto> {
    return OfferDto.from(await this.offers.accept(code, write), caller.accountUuid);
  }

  @Post('signup/:uuid/offer_link')
  @MemberOrKey({ role: 'editor', scope: 'manage' })
  @Repeatable()
  @HttpCode(200)
  @ApiOperation({
    summary: 'Make a new link for an open offer',
    description:
      'Returns the address of the page of the offer, with a new code. Mails that have not been sent yet get the new code too. The old code stops working. The offer keeps its time. A repeat with the same `Idempotency-Key` makes no other code, and returns the link that works now.',
  })
  @ApiOkResponse({ description: 'The new link.', type: OfferLinkDto })
  @ApiProblems('MISSING_TOKEN', 'INVALID_TOKEN', 'NO_WAITER_FOUND', 'OFFER_ENDED', ...REPEAT_PROBLEMS)
  async renewOfferLink(
    @Write() write: AccountWrite,
    @UuidParam('uuid', 'The `uuid` of the record.') uuid: string,
  ): Promise<OfferLinkDto> {
    return { offer_url: await this.offers.renewLink(uuid, write) };
  }
}
