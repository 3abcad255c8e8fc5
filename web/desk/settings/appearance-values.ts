import { OWN_TEXT_KEYS, type OwnTextKey } from '../../page/own-texts';
import type { Waitlist } from '../queries';
import { type ColorName, COLORS } from './appearance-fields';
import { colorOf } from './colors';
import type { PreviewedWaitlist } from './drawn-preview';
import { readLanguage } from './language';

/** The fields of the tab. An empty text means null, or the default. */
export interface AppearanceValues extends Record<string, unknown> {
  title: string;
  success_title: string;
  signup_button_title: string;
  lang: string;
  texts: Record<OwnTextKey, string>;
  logo: string;
  configuration_style_json: Record<ColorName, string>;
  your_turn_url: string;
  contact: string;
  twitter_message: string;
  widget_shows_social_links: boolean;
  shows_inviter: boolean;
  hide_counts: boolean;
  remove_widget_headers: boolean;
  /** One per line. */
  frame_origins: string;
}

export function valuesOf(waitlist: Waitlist): AppearanceValues {
  const { texts, configuration_style_json: style } = waitlist;
  const stored = (name: string) => (typeof style[name] === 'string' ? style[name] : '');
  return {
    title: waitlist.title ?? '',
    success_title: waitlist.success_title ?? '',
    signup_button_title: waitlist.signup_button_title ?? '',
    lang: waitlist.lang,
    texts: Object.fromEntries(OWN_TEXT_KEYS.map((key) => [key, texts[key] ?? ''])) as AppearanceValues['texts'],
    logo: waitlist.logo ?? '',
    configuration_style_json: Object.fromEntries(
      COLORS.map(({ name }) => [name, stored(name)]),
    ) as AppearanceValues['configuration_style_json'],
    your_turn_url: waitlist.your_turn_url ?? '',
    contact: waitlist.contact ?? '',
    twitter_message: waitlist.twitter_message ?? '',
    widget_shows_social_links: waitlist.widget_shows_social_links,
    shows_inviter: waitlist.shows_inviter,
    hide_counts: waitlist.hide_counts,
    remove_widget_headers: waitlist.remove_widget_headers,
    frame_origins: waitlist.frame_origins.join('\n'),
  };
}

/** Without the empty ones, which stand for the default. */
export function toTexts(texts: AppearanceValues['texts']): Record<string, string> {
  return Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== ''));
}

/** Keeps the names that other programs have stored there. */
export function toStyle(
  colors: AppearanceValues['configuration_style_json'],
  waitlist: Waitlist,
): Record<string, unknown> {
  const style = { ...waitlist.configuration_style_json };
  for (const [name, color] of Object.entries(colors)) {
    if (color === '') delete style[name];
    else style[name] = colorOf(color) ?? color;
  }
  return style;
}

/** What the public sees of a waitlist. */
export function toPublic(waitlist: Waitlist): PreviewedWaitlist {
  return { ...waitlist, questions: waitlist.questions.filter(({ soft_deleted }) => !soft_deleted) };
}

/** The waitlist with the unsaved values, for the preview. */
export function previewed(waitlist: Waitlist, values: AppearanceValues): PreviewedWaitlist {
  const { texts, configuration_style_json: colors, lang } = values;
  const language = readLanguage(lang);
  const orNull = (text: string) => (text === '' ? null : text);
  return {
    ...toPublic(waitlist),
    title: orNull(values.title),
    success_title: orNull(values.success_title),
    signup_button_title: orNull(values.signup_button_title),
    logo: values.logo.startsWith('https://') ? values.logo : null,
    your_turn_url: orNull(values.your_turn_url),
    contact: orNull(values.contact),
    twitter_message: orNull(values.twitter_message),
    widget_shows_social_links: values.widget_shows_social_links,
    remove_widget_headers: values.remove_widget_headers,
    shows_inviter: values.shows_inviter,
    hide_counts: values.hide_counts,
    // While one is being typed, the preview stays as it is.
    lang: language.fault === null ? language.text : waitlist.lang,
    texts: toTexts(texts),
    configuration_style_json: toStyle(colors, waitlist),
  };
}
