import type { TestSmtp } from '../../tests/harness/smtp.ts';
import { type DemoContext, must, type Part } from './part.ts';
import { print } from './terminal.ts';

/** A mail as a person sees it, a little to the right of the lines of the demo. */
const shown = ({ to, mail }: TestSmtp['mails'][number]): string =>
  [`To: ${to.join(', ')}`, `Subject: ${mail.subject}`, '', ...(mail.text ?? '').trim().split('\n')]
    .map((line) => `  | ${line}`)
    .join('\n');

/**
 * A channel that sends e-mails to a mail catcher, with a route for what waits for a person and one for alerts. An agent
 * whose Work Item fails makes the alert. Call it before anything waits: a review is sent by the routes that there are
 * when it opens.
 */
export const startMail = async (
  { api }: DemoContext,
  catcher: TestSmtp,
): Promise<Part & { isMailed: (reviewId: string) => boolean }> => {
  const channel = await must(
    api.post('/channels', {
      name: 'Night shift',
      kind: 'email',
      smtp_url: `smtp://127.0.0.1:${catcher.port}`,
      tls: 'none',
      from: 'Agent Platform <agents@example.com>',
      recipients: ['night-shift@example.com'],
    }),
  );
  const steps = [{ channel_id: channel.id, to: 'channel' }];
  await must(api.post('/routes', { name: 'What waits for a person', for: 'reviews', steps }));
  await must(api.post('/routes', { name: 'Alerts', for: 'alerts', steps }));
  print('mail', 'reviews and alerts are sent by e-mail; here a mail catcher prints each instead');

  const agent = await must(
    api.post('/agents', { name: 'Archivist', mode: 'worker', instructions: 'File what came in.' }),
  );
  await must(
    api.post('/alert-rules', {
      name: 'The archivist fails',
      kind: 'failing',
      agent_id: agent.id,
      params: { failures: 1, of: 1 },
    }),
  );
  await must(
    api.post('/work-items', {
      agent_id: agent.id,
      message: 'File the letters of today.',
      payload: { mock: { steps: [{ fail: 'the archive is full' }] } },
    }),
  );

  let printed = '';
  let mails = 0;
  return {
    isMailed: (reviewId) => printed.includes(`/approve/${reviewId}`),
    show: async () => {
      for (const mail of catcher.mails.slice(mails)) {
        mails += 1;
        printed += shown(mail);
        print('mail', `caught\n\n${shown(mail)}\n`);
      }
      return printed.includes('/approve/') && printed.includes('/alerts/');
    },
  };
};
