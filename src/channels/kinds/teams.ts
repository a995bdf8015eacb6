import { cut } from '../messages/clean.ts';
import type { Notice } from '../messages/notice.ts';
import type { SettingsOf } from '../settings.ts';
import type { Kind } from './kind.ts';
import { type HttpRequest, type PostParts, sendRequest, testRequest } from './post.ts';

/** A workflow of Teams refuses a message of more than 28 KB; so many characters of arguments fit in any encoding. */
const mostArguments = 4_000;

interface Element {
  type: string;
  [field: string]: unknown;
}

/** Markdown of a TextBlock means nothing in these runs: Adaptive Cards render the text of a TextRun as it is. */
const run = (text: string, more: object = {}): Element => ({
  type: 'RichTextBlock',
  inlines: [{ type: 'TextRun', text, ...more }],
});

const factsOf = ({ facts }: Notice): Element[] =>
  facts.map(({ label, value }) => ({
    type: 'RichTextBlock',
    inlines: [
      { type: 'TextRun', text: `${label}: `, weight: 'Bolder' },
      { type: 'TextRun', text: value },
    ],
  }));

const callsOf = ({ calls }: Notice): Element[] => {
  let left = mostArguments;
  return calls.flatMap(({ title, reason, arguments: json }) => {
    const shown = json === null || left <= 0 ? null : cut(json, left);
    left -= shown?.length ?? 0;
    return [
      run(title, { weight: 'Bolder' }),
      ...(reason === null ? [] : [run(reason)]),
      ...(shown === null ? [] : shown.split('\n').map((line) => run(line, { fontType: 'Monospace' }))),
    ];
  });
};

const colors = { error: 'Attention', warning: 'Warning', info: 'Accent' } as const;

/** An Adaptive Card 1.4 with the link. What became of something is a second card. */
const cardOf = (notice: Notice): Element => {
  const { title, outcome, edits, link, severity } = notice;
  return {
    type: 'AdaptiveCard',
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    version: '1.4',
    body: [
      run(title, {
        weight: 'Bolder',
        size: 'Medium',
        color: outcome === null ? colors[severity] : 'Default',
      }),
      ...(outcome === null ? [] : [run(outcome, { weight: 'Bolder' })]),
      ...factsOf(notice),
      ...(outcome === null ? callsOf(notice) : []),
      ...edits.map((edit) => run(edit, { fontType: 'Monospace' })),
    ],
    actions: [{ type: 'Action.OpenUrl', title: 'Open', url: link }],
  };
};

const requestOf = ({ url }: SettingsOf<'teams'>, card: Element): HttpRequest => ({
  url,
  body: JSON.stringify({
    type: 'message',
    attachments: [
      { contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content: card },
    ],
  }),
});

/** Workflows of Microsoft Teams. No one decides there. */
export const teamsKind = (parts: PostParts, publicUrl: () => string): Kind<'teams'> => ({
  send: (settings, { notice, signal }) => sendRequest(parts, requestOf(settings, cardOf(notice)), signal),
  test: (settings, { steps }) => {
    const card: Element = {
      type: 'AdaptiveCard',
      $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
      version: '1.4',
      body: [run('This is a test of a channel of Agent Platform.')],
      actions: [{ type: 'Action.OpenUrl', title: 'Open', url: publicUrl() }],
    };
    return testRequest(parts, requestOf(settings, card), steps);
  },
});
