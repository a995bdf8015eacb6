import type { PublicTrigger } from '../../../api/types.gen.ts';
import { triggerDetail as words } from '../../../text/en/trigger-detail.ts';
import { Time } from '../../../time/index.ts';
import { CodeBlock, Muted, Section, TextField, Words } from '../../../ui/index.ts';
import { webhookCommands } from '../shared/curl.ts';
import css from './detail.module.css';

/** Where the events of a trigger come from, and commands that send one. */
export const Connect = ({ trigger }: { trigger: PublicTrigger }) => {
  const { url, settings, kind, secret_set, previous_secret_expires_at } = trigger;
  if (url === null) {
    const isBroker = kind === 'nats' || kind === 'kafka';
    return <Muted>{isBroker ? words.brokerConnect : words.platformConnect}</Muted>;
  }
  const { scheme } = settings;
  const steps = scheme !== undefined && scheme in words.sends ? words.sends[scheme as 'github'] : null;
  return (
    <>
      <Section title={words.address}>
        <div className={css.why}>
          <TextField label={words.address} value={url} onChange={() => {}} mono />
          {steps && <p>{steps}</p>}
          {secret_set && <Muted small>{words.secretSet}</Muted>}
          {previous_secret_expires_at !== null && (
            <Muted small>
              <Words text={words.previousSecret} at={<Time at={previous_secret_expires_at} />} />
            </Muted>
          )}
        </div>
      </Section>
      <Section title={words.send} note={secret_set ? words.sendNote : undefined}>
        <CodeBlock label={words.send} code={webhookCommands(url, settings)} />
      </Section>
    </>
  );
};
