import { useState } from 'react';
import type { LoadState } from '../../api/index.ts';
import type { PublicAgent } from '../../api/types.gen.ts';
import { EditForm } from '../../resource/index.ts';
import { agents as words } from '../../text/en/agents.ts';
import { common } from '../../text/en/common.ts';
import { ui } from '../../text/en/ui.ts';
import {
  AddToList,
  Bar,
  Button,
  Callout,
  CopyValue,
  MultiSelect,
  notify,
  optionsOf,
  SecretField,
  Section,
  StoredSecretMap,
  TextField,
} from '../../ui/index.ts';
import { useAgentForm } from './AgentForm.tsx';
import {
  type CallbackEvent,
  type CallbackValues,
  mostCallbacks,
  noCallback,
  toCallbacksBody,
  toCallbackValues,
} from './callbacks.ts';
import css from './fields.module.css';

const events = optionsOf(words.callbackEvents);

interface Generated {
  id: string;
  url: string;
  secret: string;
}

/** The secrets that were generated: nothing shows them again. */
const GeneratedSecrets = ({ generated, onDone }: { generated: readonly Generated[]; onDone: () => void }) => (
  <Callout tone="look" title={words.secretsGenerated}>
    <div className={css.secret}>
      {generated.map(({ id, url, secret }) => (
        <span key={id}>
          {words.secretOf(url)} <CopyValue value={secret} mono />
        </span>
      ))}
      <Bar>
        <Button small onClick={onDone}>
          {common.done}
        </Button>
      </Bar>
    </div>
  </Callout>
);

const CallbackFields = ({
  value,
  place,
  onChange,
  onRemove,
  disabledReason,
}: {
  value: CallbackValues;
  place: number;
  onChange: (patch: Partial<CallbackValues>) => void;
  onRemove: () => void;
  disabledReason: string | null | undefined;
}) => (
  <fieldset className={css.callback}>
    <legend>{words.callback(place)}</legend>
    <TextField
      label={words.callbackUrl(place)}
      type="url"
      value={value.url}
      onChange={(url) => onChange({ url })}
      disabledReason={disabledReason}
      required
    />
    <MultiSelect
      label={words.callbackEventsOf(place)}
      value={value.events}
      onChange={(chosen) => onChange({ events: chosen as CallbackEvent[] })}
      options={events}
      disabledReason={disabledReason}
    />
    <StoredSecretMap
      label={words.callbackHeaders(place)}
      hint={words.callbackHeadersHint}
      names={value.header_names}
      value={value.headers}
      onChange={(headers) => onChange({ headers })}
      disabledReason={disabledReason}
    />
    <SecretField
      label={words.callbackSecret(place)}
      hint={value.id === null ? words.callbackSecretHint : words.callbackSecretStays}
      value={value.secret}
      onChange={(secret) => onChange({ secret })}
      set={value.id !== null}
      disabledReason={disabledReason}
    />
    <Bar>
      <Button
        small
        kind="quiet"
        aria-label={words.removeCallback(place)}
        disabledReason={disabledReason}
        onClick={onRemove}
      >
        {ui.remove}
      </Button>
    </Bar>
  </fieldset>
);

/** The callbacks of the agent. */
export const CallbacksForm = ({ agent, got }: { agent: PublicAgent; got: LoadState<PublicAgent> }) => {
  const [generated, setGenerated] = useState<Generated[]>([]);
  const edit = useAgentForm(agent, got, toCallbackValues, toCallbacksBody, (saved) => {
    setGenerated(
      saved.callbacks.flatMap(({ id, url, secret }) => (secret === undefined ? [] : [{ id, url, secret }])),
    );
    // The cached agent has no secret.
    return { ...saved, callbacks: saved.callbacks.map(({ secret: _, ...callback }) => callback) };
  });
  const { form } = edit;
  const { value, onChange, error, disabledReason } = form.field('callbacks');
  const full = value.length >= mostCallbacks ? words.mostCallbacks(mostCallbacks) : null;
  return (
    <Section title={words.callbacks} note={words.callbacksText}>
      <EditForm
        edit={edit}
        labels={{ callbacks: words.callbacks }}
        // Typed secrets are not shown next to what someone else saved.
        texts={{ callbacks: (list) => list.map(({ url }) => url).join('\n') }}
        onSaved={() => notify(words.saved)}
      >
        {generated.length > 0 && <GeneratedSecrets generated={generated} onDone={() => setGenerated([])} />}
        {value.map((callback, index) => (
          <CallbackFields
            key={callback.id ?? `new ${index}`}
            value={callback}
            place={index + 1}
            onChange={(patch) => onChange(value.map((one, i) => (i === index ? { ...one, ...patch } : one)))}
            onRemove={() => onChange(value.filter((_, i) => i !== index))}
            disabledReason={disabledReason}
          />
        ))}
        <AddToList
          label={words.addCallback}
          error={error}
          disabledReason={disabledReason ?? full}
          onAdd={() => onChange([...value, noCallback])}
        />
      </EditForm>
    </Section>
  );
};
