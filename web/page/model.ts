/*
 * What the page and the widget show, as plain data. The names are those of the API, so that the widget can pass on what
 * it reads, and the server what it would answer.
 */

import type { Captcha } from './captcha-providers.js';

export type Requirement = 'required' | 'optional' | 'off';

export interface Question {
  readonly id: number;
  readonly question_value: string;
  readonly optional: boolean;
  /** The options to choose from; null asks for free text. */
  readonly answer_value: readonly string[] | null;
}

/** The public view of a waitlist, as far as pages read it. */
export interface PublicWaitlist {
  readonly id: number;
  readonly waitlist_name: string;
  /** The page where people sign up. */
  readonly waitlist_url_location: string;
  readonly required_contact: {
    readonly email: Requirement;
    readonly phone: Requirement;
    readonly first_name: Requirement;
    readonly last_name: Requirement;
  };
  readonly questions: readonly Question[];
  readonly captcha: Captcha | null;
  readonly is_closed: boolean;
  readonly spots_to_move_upon_referral: number;
  readonly title: string | null;
  readonly success_title: string | null;
  readonly signup_button_title: string | null;
  readonly logo: string | null;
  readonly configuration_style_json: Readonly<Record<string, unknown>>;
  readonly uses_firstname_lastname: boolean;
  readonly uses_leaderboard: boolean;
  readonly uses_signup_verification: boolean;
  readonly remove_widget_headers: boolean;
  readonly widget_shows_social_links: boolean;
  readonly twitter_message: string | null;
  readonly lang: string;
  /** The owner's texts, by `OWN_TEXT_KEYS` of own-texts.ts. */
  readonly texts: Readonly<Record<string, string>>;
  readonly your_turn_url: string | null;
  /** Whether the service sends mail. Omitted in an owner's view: it does. */
  readonly sends_mail?: boolean;
  /** An email or an https URL. Not in the API's answer. */
  readonly contact?: string | null;
}

/** A record, as the public may see it. */
export interface Status {
  readonly uuid: string;
  readonly status: 'waiting' | 'offboarded' | 'pending' | 'offered';
  /** Null for people in the queue, and for those removed before reasons were kept, who count as `by_owner`. */
  readonly removed_reason: 'by_owner' | 'accepted' | 'declined' | 'expired' | null;
  /** In ISO 8601; null where nothing is offered, the time has not begun, or the offer never expires. */
  readonly offer_expires_at: string | null;
  /** Whether the email is. */
  readonly verified: boolean;
  /** Records ahead. People are shown positions from 1. */
  readonly priority: number;
  readonly amount_referred: number;
  readonly referral_link: string;
}

/** How a place came about, and what comes next: the answer of `GET /api/v1/signup/place`. */
export interface Place {
  readonly status: Status['status'];
  readonly priority: number;
  /** Records ahead when the person entered the queue; null if unknown. */
  readonly joined_priority: number | null;
  /** The friends who count, and the places that they are worth by the current setting. */
  readonly referrals: { readonly count: number; readonly spots: number };
  /**
   * Places by which others and the owner moved the person up, or back if below 0. This and the next two are null unless
   * the person is waiting.
   */
  readonly others: number | null;
  /** With one more friend, as things stand. */
  readonly next_referral_priority: number | null;
  /** Dates. */
  readonly estimate: { readonly from: string; readonly to: string } | null;
  readonly offer_expires_at: string | null;
}

/** A person on the leaderboard, shortened by the API. */
export interface Leader {
  readonly amount_referred: number;
  readonly priority: number;
  readonly first_name: string;
  readonly last_name: string;
  readonly email: string | null;
  readonly phone: string | null;
}

/** A field that the API refused: an item of a problem's `errors`. */
export interface Fault {
  /** As the API names it: `email`, `answers[0].answer_value`. */
  readonly field: string;
  readonly rule: string;
  readonly message: string;
}

/** What a person typed, by the names of the form's inputs. */
export type Values = Readonly<Record<string, string>>;
