/*
 * The bounds of the contract that the desk's fields hold to. The build keeps nothing of the contract but its bounds:
 * see vite.config.ts.
 */
import { components } from '../../openapi/openapi.json';

const { ImportReport, MakeOffers, OfferRules, OffboardWaiters, Question, Statistics, UpdateWaiter, UpdateWaitlist } =
  components.schemas;

export const OFFBOARDING = OffboardWaiters.properties;
export const OFFERING = MakeOffers.properties;
export const OFFERS = OfferRules.properties;
export const PERSON = UpdateWaiter.properties;
export const REPORT = ImportReport.properties;
export const RELEASE = UpdateWaitlist.properties.release_plan.properties;
export const STATISTICS = Statistics.properties;
export const QUESTION = Question.properties;
export const WAITLIST = UpdateWaitlist.properties;
