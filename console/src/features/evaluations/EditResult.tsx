import { useState } from 'react';
import { useUnsaved } from '../../api/index.ts';
import type { ToolResultPart } from '../../messages/index.ts';
import { evaluations as words } from '../../text/en/evaluations.ts';
import { ActionDialog, Checkbox, Textarea } from '../../ui/index.ts';

/** Changes a recorded result in the form of its case. */
export const EditResult = ({
  result,
  onChange,
  onClose,
}: {
  result: ToolResultPart;
  onChange: (patch: { text: string; is_error: boolean }) => void;
  onClose: () => void;
}) => {
  const [text, setText] = useState(result.text);
  const [isError, setIsError] = useState(result.is_error);
  useUnsaved(() => text !== result.text || isError !== result.is_error);
  return (
    <ActionDialog
      open
      wide
      onClose={onClose}
      title={words.editResult}
      action={words.changeResult}
      onConfirm={() => {
        onChange({ text, is_error: isError });
        onClose();
      }}
    >
      <p>{words.editResultText(result.tool_name)}</p>
      <Textarea
        label={words.result}
        value={text}
        onChange={setText}
        rows={Math.min(20, Math.max(6, text.split('\n').length + 1))}
        mono
        autoFocus
      />
      <Checkbox label={words.callFailed} value={isError} onChange={setIsError} />
    </ActionDialog>
  );
};
