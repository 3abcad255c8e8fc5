/** @jsxImportSource preact */
import { render } from 'preact';
import type { PublicWaitlist, Status } from '../../page/model';
import css from '../../page/page.css?inline';
import { SignupForm } from '../../page/signup-form';
import { StatusView } from '../../page/status';
import { directionOf, textsOf } from '../../page/texts';
import { themeOf } from '../../page/theme';

export type PreviewTarget = 'page' | 'widget';
/** Before joining, after it, and once let in. */
export type PreviewState = 'form' | 'joined' | 'turn';

interface Previewed {
  readonly waitlist: PublicWaitlist;
  readonly target: PreviewTarget;
  readonly state: PreviewState;
  readonly scheme: 'light' | 'dark';
}

/** The scheme is chosen beside the preview, whatever the reader's own is. */
const DARK = /\(prefers-color-scheme:\s*dark\)/g;
const PERSON: Status = {
  uuid: '01890a5d-ac96-774b-bcce-b302099a8057',
  status: 'waiting',
  priority: 1203,
  amount_referred: 2,
  referral_link: 'https://example.com/?ref_id=EXAMPLE',
};

/** Draws the page or the widget into a document of its own. */
export function renderPreview(page: Document, { waitlist, target, state, scheme: asked }: Previewed): void {
  const { scheme: own, properties } = themeOf(waitlist.configuration_style_json);
  const scheme = own ?? asked;
  const { documentElement: root } = page;
  root.lang = waitlist.lang;
  root.dir = directionOf(waitlist.lang);
  root.style.cssText = '';
  root.style.colorScheme = scheme;
  for (const [name, value] of Object.entries(properties)) root.style.setProperty(name, value);
  const query = scheme === 'dark' ? 'all' : 'not all';
  page.adoptedStyleSheets = [sheetOf(page, css.replaceAll(DARK, query))];
  render(<Previewed waitlist={waitlist} target={target} state={state} />, page.body);
}

/** A style sheet belongs to the window whose constructor made it. */
function sheetOf({ defaultView }: Document, text: string): CSSStyleSheet {
  const { CSSStyleSheet: Sheet } = defaultView as Window & typeof globalThis;
  const sheet = new Sheet();
  sheet.replaceSync(text);
  return sheet;
}

function Previewed({ waitlist, target, state }: Omit<Previewed, 'scheme'>) {
  const texts = textsOf(waitlist);
  const introduction = texts.text('introduction');
  const isPage = target === 'page';
  return (
    <main class="waitlist-card">
      {isPage && waitlist.logo !== null && <img class="waitlist-logo" src={waitlist.logo} alt="" />}
      {state === 'form' ? (
        <>
          {(isPage || !waitlist.remove_widget_headers) && (
            <header class="waitlist-header">
              <h1 class="waitlist-title">{waitlist.title ?? waitlist.waitlist_name}</h1>
              {introduction !== '' && <p class="waitlist-introduction">{introduction}</p>}
            </header>
          )}
          <SignupForm waitlist={waitlist} texts={texts} action="" />
        </>
      ) : (
        <StatusView
          waitlist={waitlist}
          status={{ ...PERSON, status: state === 'turn' ? 'offboarded' : 'waiting' }}
          leaders={[]}
          texts={texts}
        />
      )}
    </main>
  );
}
