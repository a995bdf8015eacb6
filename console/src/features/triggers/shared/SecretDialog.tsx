import type { PublicTrigger } from '../../../api/types.gen.ts';
import { common } from '../../../text/en/common.ts';
import { triggerDetail as words } from '../../../text/en/trigger-detail.ts';
import { Bar, Callout, CodeBlock, CopyButton, Dialog, Section, TextField } from '../../../ui/index.ts';
import { webhookCommands } from './curl.ts';
import css from './SecretDialog.module.css';

/** The secret of a webhook that was just made, which is shown this once. Only its button closes it. */
export const SecretDialog = ({
  title,
  trigger: { url, settings },
  secret,
  onClose,
}: {
  title: string;
  trigger: Pick<PublicTrigger, 'url' | 'settings'>;
  secret: string;
  onClose: () => void;
}) => (
  <Dialog open wide onlyByButton onClose={onClose} title={title} closeLabel={common.done}>
    <div className={css.dialog}>
      <Callout tone="look" title={words.shownOnce} />
      <TextField label={words.secret} value={secret} onChange={() => {}} mono />
      {url !== null && <TextField label={words.address} value={url} onChange={() => {}} mono />}
      <Bar>
        <CopyButton value={secret} label={words.copySecret} kind="primary" />
        {url !== null && <CopyButton value={url} label={words.copyAddress} />}
      </Bar>
      {url !== null && (
        <Section title={words.send}>
          <CodeBlock label={words.send} code={webhookCommands(url, settings, secret)} />
        </Section>
      )}
    </div>
  </Dialog>
);
