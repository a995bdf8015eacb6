import { cut } from '../../messages/clean.ts';
import type { Notice } from '../../messages/notice.ts';
import type { Subject } from '../../messages/subject.ts';

/** Messages of Slack, as blocks. Texts of others are `plain_text` and preformatted rich text, in which nothing is markup. */

export interface Block {
  type: string;
  [field: string]: unknown;
}

/** The actions of buttons. */
const slackActions = ['approve', 'deny', 'acknowledge', 'open'] as const;
type SlackAction = (typeof slackActions)[number];

/** All arguments of a message together, in characters. */
const mostArguments = 2_800;
const mostCalls = 10;
const longestField = 1_900;
const longestText = 2_900;
const longestHeader = 140;

const plain = (text: string) => ({ type: 'plain_text', text, emoji: false });

const section = (text: string): Block => ({ type: 'section', text: plain(cut(text, longestText)) });

const preformatted = (text: string): Block => ({
  type: 'rich_text',
  elements: [{ type: 'rich_text_preformatted', elements: [{ type: 'text', text }] }],
});

const button = (action: SlackAction, text: string, more: object): Block => ({
  type: 'button',
  action_id: action,
  text: plain(text),
  ...more,
});

/** The control characters of Slack in a text (its documentation, "Escaping text"): none of it is a mention or a link. */
const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Returns whether a message shows all that is decided on, so that people may decide in it. */
const mayHaveButtons = (
  subject: Subject,
  { calls }: Notice,
  { buttons, withArguments }: { buttons: boolean; withArguments: boolean },
): boolean => {
  if (!buttons || !withArguments || subject.type !== 'review' || subject.review.state !== 'open')
    return false;
  const { approvals } = subject.review;
  if (approvals.length < 1 || approvals.length > mostCalls) return false;
  if (approvals.some(({ kind }) => kind !== 'tool_call')) return false;
  return calls.reduce((sum, call) => sum + (call.arguments?.length ?? 0), 0) <= mostArguments;
};

const actionsOf = (subject: Subject, notice: Notice, decides: boolean, buttons: boolean): Block => {
  const id = subject.type === 'review' ? subject.review.id : subject.alert.id;
  const open = button('open', 'Open', { url: notice.link });
  if (subject.type === 'alert') {
    const isNew = buttons && notice.type === 'alert.firing';
    const acknowledge = button('acknowledge', 'Acknowledge', { value: id, style: 'primary' });
    return { type: 'actions', elements: isNew ? [acknowledge, open] : [open] };
  }
  if (!decides) return { type: 'actions', elements: [open] };
  const all = notice.calls.length > 1 ? ' all' : '';
  return {
    type: 'actions',
    elements: [
      button('approve', `Approve${all}`, { value: id, style: 'primary' }),
      button('deny', `Deny${all}`, { value: id, style: 'danger' }),
      open,
    ],
  };
};

/** The calls, with as much of their arguments as fits. */
const callsOf = ({ calls }: Notice): Block[] => {
  let left = mostArguments;
  const shown = calls.slice(0, mostCalls).flatMap(({ title, reason, arguments: json }): Block[] => {
    const begin = json === null ? '' : json.slice(0, left);
    left -= begin.length;
    const missing = json === null ? 0 : json.length - begin.length;
    return [
      section(reason === null ? title : `${title}\n${reason}`),
      ...(begin === '' ? [] : [preformatted(begin)]),
      ...(missing === 0 ? [] : [section(`${missing.toLocaleString('en')} more characters are on the page.`)]),
    ];
  });
  const more = calls.length - mostCalls;
  return more > 0 ? [...shown, section(`${more} more are on the page.`)] : shown;
};

/** `text` is for notifications, where blocks are not shown. */
export const slackMessage = (
  subject: Subject,
  notice: Notice,
  given: { buttons: boolean; withArguments: boolean },
): { text: string; blocks: Block[] } => {
  const { title, facts, outcome, edits } = notice;
  const blocks: Block[] = [
    { type: 'header', text: plain(cut(title, longestHeader)) },
    ...(outcome === null ? [] : [section(outcome)]),
    ...(facts.length === 0
      ? []
      : [
          {
            type: 'section',
            fields: facts
              .slice(0, 10)
              .map(({ label, value }) => plain(cut(`${label}: ${value}`, longestField))),
          },
        ]),
    ...(outcome === null || subject.type === 'alert' ? callsOf(notice) : []),
    ...(edits.length === 0 ? [] : [preformatted(cut(edits.join('\n'), longestText))]),
    actionsOf(subject, notice, mayHaveButtons(subject, notice, given), given.buttons),
  ];
  return { text: escaped(outcome === null ? title : `${outcome}: ${title}`), blocks };
};

/** A message that one person sees: why nothing changed, with the link. */
export const slackNote = (sentence: string, link: string | null): { text: string; blocks: Block[] } => ({
  text: escaped(sentence),
  blocks: [
    section(sentence),
    ...(link === null ? [] : [{ type: 'actions', elements: [button('open', 'Open', { url: link })] }]),
  ],
});
