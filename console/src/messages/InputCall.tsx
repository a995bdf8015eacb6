import { useState } from 'react';
import { useOperation, usePermission, useUnsaved } from '../api/index.ts';
import { input as words } from '../text/en/input.ts';
import { messages } from '../text/en/messages.ts';
import {
  Bar,
  Button,
  Callout,
  Checkbox,
  MultiSelect,
  Muted,
  Section,
  Select,
  Textarea,
  TextField,
  Words,
} from '../ui/index.ts';
import type { Deciding } from './decisions.ts';
import css from './InputCall.module.css';
import {
  answerFaults,
  answersOf,
  firstValues,
  type InputField,
  type InputValue,
  inputFields,
  readAddress,
} from './input.ts';
import { LongText } from './LongText.tsx';
import type { PendingApproval } from './types.ts';
import { prettyJson } from './values.ts';

/** The name and the host of the tool server: who gets the answer. */
const Server = ({ id }: { id: string | null }) => {
  const { allowed } = usePermission('getToolServerHost');
  const { data } = useOperation('getToolServerHost', id === null ? null : { tool_server_id: id }, {
    enabled: allowed,
    staleTime: 60_000,
  });
  if (!data) return null;
  const { name, host } = data;
  return <Muted small>{host === null ? words.fromProcess(name) : words.from(name, host)}</Muted>;
};

const Field = ({
  field,
  value,
  onChange,
  error,
  disabledReason,
}: {
  field: InputField;
  value: InputValue;
  onChange: (value: InputValue) => void;
  error: string | undefined;
  disabledReason: string | null;
}) => {
  const { label, kind, required, options } = field;
  const notes = [field.hint, required ? null : words.optional].filter(Boolean).join(' · ');
  const frame = { label, error, required, disabledReason, hint: notes || undefined };
  if (kind === 'yes')
    return <Checkbox {...frame} hint={field.hint ?? undefined} value={value === true} onChange={onChange} />;
  if (kind === 'choices')
    return <MultiSelect {...frame} value={[...(value as string[])]} onChange={onChange} options={options} />;
  if (kind === 'choice') {
    return (
      <Select
        {...frame}
        value={value === '' ? null : String(value)}
        onChange={(chosen) => onChange(chosen ?? '')}
        options={options}
        placeholder={words.choose}
      />
    );
  }
  if (kind === 'long') return <Textarea {...frame} value={String(value)} onChange={onChange} rows={4} />;
  const type = kind === 'number' ? 'text' : kind;
  return <TextField {...frame} type={type} value={String(value)} onChange={onChange} />;
};

const AddressToOpen = ({ url, mayOpen }: { url: string | null; mayOpen: boolean }) => {
  const address = readAddress(url);
  if (!address) return <Callout tone="bad" title={words.badAddress} />;
  const { before, host, after, href, punycode } = address;
  return (
    <>
      <p>{words.address}</p>
      <p className={css.address}>
        <Words text="{before}{host}{after}" before={before} host={<mark>{host}</mark>} after={after} />
      </p>
      {punycode ? (
        <Callout tone="bad" title={words.punycode(host)} />
      ) : (
        <Muted small>{words.host(host)}</Muted>
      )}
      {mayOpen && (
        <p>
          {/* Not a link of the application: its address is the tool's, and learns nothing of this page. */}
          <a href={href} target="_blank" rel="noreferrer noopener" className={css.open}>
            {words.open}
          </a>
        </p>
      )}
    </>
  );
};

/** Input that a tool asks for: its form or its address, and the buttons that answer. */
export const InputCall = ({
  approval,
  deciding,
}: {
  approval: PendingApproval;
  deciding: Deciding | null;
}) => {
  const { approval_id, tool_name, mode, url, reason, tool_server_id } = approval;
  const fields = inputFields(approval.input_schema);
  const first = firstValues(fields);
  const [typed, setTyped] = useState(first);
  const [tried, setTried] = useState(false);
  const isAddress = mode === 'url';
  const given = deciding?.decided.get(approval_id);
  useUnsaved(() => JSON.stringify(typed) !== JSON.stringify(first) && !deciding?.busy && !given);
  const { answers, faults: missing } = answersOf(fields, typed);
  const faults = {
    ...(tried ? missing : {}),
    ...(deciding?.error ? answerFaults(deciding.error.details) : {}),
  };
  const tool = tool_name ?? '';
  const round = approval.round ?? 1;
  const submit = () => {
    setTried(true);
    if (!isAddress && Object.keys(missing).length > 0) return;
    const more = isAddress ? {} : { arguments: answers };
    void deciding?.decide({ approval_id, decision: 'approve', ...more });
  };
  const off = { busy: deciding?.busy ?? false, disabledReason: deciding?.disabledReason ?? null };
  const isOnly = deciding?.waiting.length === 1;
  return (
    <div className={css.input}>
      <Section label={words.title}>
        <h3>{round > 1 ? words.asksAgain(tool, round) : words.asks(tool)}</h3>
        <Server id={tool_server_id} />
        {reason && <LongText text={reason} />}
        <details>
          <summary>{words.callArguments}</summary>
          <LongText text={prettyJson(approval.arguments ?? {})} mono fileName="arguments.json" />
        </details>
        {isAddress && <AddressToOpen url={url} mayOpen={deciding !== null && !given} />}
        {!isAddress && deciding && !given && (
          <>
            {fields.map((field) => (
              <Field
                key={field.name}
                field={field}
                value={typed[field.name] ?? field.first}
                onChange={(value) => setTyped({ ...typed, [field.name]: value })}
                error={faults[field.name]}
                disabledReason={deciding.disabledReason}
              />
            ))}
            <Muted small>{fields.length === 0 ? words.noInput : words.onlyTool}</Muted>
          </>
        )}
        {deciding && (
          <Bar>
            {given ? (
              <>
                <span>{given.decision === 'approve' ? words.willAnswer : words.willDecline}</span>
                <Button small onClick={() => deciding.undo(approval_id)}>
                  {messages.change}
                </Button>
              </>
            ) : (
              <>
                <Button {...off} kind={isOnly ? 'primary' : 'plain'} onClick={submit}>
                  {isAddress ? words.finished : words.submit}
                </Button>
                <Button {...off} onClick={() => void deciding.decide({ approval_id, decision: 'deny' })}>
                  {words.decline}
                </Button>
              </>
            )}
          </Bar>
        )}
      </Section>
    </div>
  );
};
