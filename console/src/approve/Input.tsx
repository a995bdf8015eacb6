import {
  answersOf,
  firstValues,
  type InputField,
  type InputValue,
  type InputValues,
  inputFields,
  readAddress,
} from '../messages/input.ts';
import { input as words } from '../text/en/input.ts';
import { cx } from '../ui/cx.ts';
import { Words } from '../ui/Words.tsx';
import { Choose } from './Call.tsx';
import { type Asked, type CallDraft, shownJson } from './draft.ts';
import { type ControlProps, Field, TextArea } from './parts.tsx';
import { Server } from './Server.tsx';

interface ControlOf {
  field: InputField;
  value: InputValue;
  onChange: (value: InputValue) => void;
}

const Control = ({ field, value, onChange, ...control }: ControlOf & ControlProps) => {
  if (field.kind === 'long')
    return <TextArea {...control} value={String(value)} onChange={onChange} rows={4} />;
  if (field.kind === 'choice') {
    return (
      <select {...control} value={String(value)} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="">{words.choose}</option>
        {field.options.map(({ value: one, label }) => (
          <option key={one} value={one}>
            {label}
          </option>
        ))}
      </select>
    );
  }
  return (
    <input
      {...control}
      type={field.kind === 'number' ? 'text' : field.kind}
      inputMode={field.kind === 'number' ? (field.whole ? 'numeric' : 'decimal') : undefined}
      autoComplete="off"
      value={String(value)}
      onInput={(event) => onChange(event.currentTarget.value)}
    />
  );
};

const Check = ({ label, on, onChange }: { label: string; on: boolean; onChange: (on: boolean) => void }) => (
  <label className="check">
    <input type="checkbox" checked={on} onChange={(event) => onChange(event.currentTarget.checked)} />
    <span>{label}</span>
  </label>
);

const AskedField = ({ field, value, onChange, error }: ControlOf & { error: string | undefined }) => {
  if (field.kind === 'yes') {
    return (
      <div className="field">
        <Check label={field.label} on={value === true} onChange={onChange} />
        {field.hint && <p className="hint">{field.hint}</p>}
      </div>
    );
  }
  if (field.kind === 'choices') {
    const chosen = value as readonly string[];
    return (
      <fieldset className="field">
        <legend>{field.label}</legend>
        {field.options.map(({ value: one, label }) => (
          <Check
            key={one}
            label={label}
            on={chosen.includes(one)}
            onChange={(on) => onChange(on ? [...chosen, one] : chosen.filter((other) => other !== one))}
          />
        ))}
        {(error ?? field.hint) && <p className={error ? 'fault' : 'hint'}>{error ?? field.hint}</p>}
      </fieldset>
    );
  }
  const hint = field.required ? field.hint : [field.hint, words.optional].filter(Boolean).join(' · ');
  return (
    <Field label={field.label} hint={hint} error={error}>
      {(control) => <Control {...control} field={field} value={value} onChange={onChange} />}
    </Field>
  );
};

const Form = ({
  schema,
  values,
  faults,
  onChange,
}: {
  schema: unknown;
  values: InputValues | undefined;
  faults: Readonly<Record<string, string>>;
  onChange: (values: InputValues) => void;
}) => {
  const fields = inputFields(schema);
  const shown = values ?? firstValues(fields);
  if (fields.length === 0) return <p className="hint">{words.noInput}</p>;
  return fields.map((field) => (
    <AskedField
      key={field.name}
      field={field}
      value={shown[field.name] ?? field.first}
      onChange={(value) => onChange({ ...shown, [field.name]: value })}
      error={faults[field.name]}
    />
  ));
};

/** An address, and the link to it: what comes first, until it was opened. */
const AddressToOpen = ({
  url,
  mayOpen,
  opened,
  onOpen,
}: {
  url: string | null;
  mayOpen: boolean;
  opened: boolean;
  onOpen: () => void;
}) => {
  const address = readAddress(url);
  if (!address) {
    return (
      <>
        <p className="say bad">{words.badAddress}</p>
        {url && <p className="address">{url}</p>}
      </>
    );
  }
  const { before, host, after, href, punycode } = address;
  return (
    <>
      <p>{words.address}</p>
      <p className="address">
        <Words text="{before}{host}{after}" before={before} host={<mark>{host}</mark>} after={after} />
      </p>
      <p className={punycode ? 'say bad' : 'hint'}>{punycode ? words.punycode(host) : words.host(host)}</p>
      {mayOpen && (
        <a
          className={cx('button', opened ? 'plain' : 'primary')}
          onClick={onOpen}
          href={href}
          target="_blank"
          rel="noreferrer noopener"
        >
          {words.open}
        </a>
      )}
    </>
  );
};

/** The faults that can be found here once a person tried to send. */
export const localFaults = ({ input_schema, mode }: Asked, { answers }: CallDraft) => {
  if (mode === 'url') return {};
  const fields = inputFields(input_schema);
  return answersOf(fields, answers ?? firstValues(fields)).faults;
};

/** What a tool asks a person for while it is called. */
export const Input = ({
  call,
  name,
  draft,
  onDraft,
  mayDecide,
  several,
  faults,
}: {
  call: Asked;
  name: string;
  draft: CallDraft;
  onDraft: (change: CallDraft) => void;
  mayDecide: boolean;
  several: boolean;
  faults: Readonly<Record<string, string>>;
}) => {
  const tool = call.tool_name ?? '';
  const round = call.round ?? 1;
  return (
    <section aria-label={name} className="card">
      {several && <p className="hint">{name}</p>}
      <h2>{round > 1 ? words.asksAgain(tool, round) : words.asks(tool)}</h2>
      {call.tool_server_id && <Server id={call.tool_server_id} />}
      {call.reason && <p className="said">{call.reason}</p>}
      <details>
        <summary>{words.callArguments}</summary>
        <pre>{shownJson(call.arguments ?? {})}</pre>
      </details>
      {call.mode === 'url' ? (
        <AddressToOpen
          url={call.url}
          mayOpen={mayDecide}
          opened={draft.opened === true}
          onOpen={() => onDraft({ opened: true })}
        />
      ) : (
        mayDecide && (
          <>
            <Form
              schema={call.input_schema}
              values={draft.answers}
              faults={faults}
              onChange={(answers) => onDraft({ answers })}
            />
            <p className="hint">{words.onlyTool}</p>
          </>
        )
      )}
      {mayDecide && several && (
        <Choose
          draft={draft}
          onDraft={onDraft}
          yes={call.mode === 'url' ? words.finished : words.submit}
          no={words.decline}
        />
      )}
    </section>
  );
};
