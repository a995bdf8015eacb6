import { useId, useRef, useState } from 'react';
import type { FieldProps } from '../../api/index.ts';
import { branding as words } from '../../text/en/branding.ts';
import { common } from '../../text/en/common.ts';
import { Bar, Button } from '../../ui/index.ts';
import css from './Branding.module.css';

const maxBytes = 256 * 1024;

const toDataUrl = (file: File): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });

export const LogoField = ({
  label,
  hint,
  value,
  onChange,
  error,
  name,
  disabledReason,
}: FieldProps<string> & {
  label: string;
  hint: string;
}) => {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const [tooLarge, setTooLarge] = useState(false);
  const problem = tooLarge ? words.tooLarge : error;
  return (
    <div className={css.logo}>
      <label htmlFor={id} className={css.label}>
        {label}
      </label>
      <input
        ref={input}
        id={id}
        name={name}
        type="file"
        accept="image/png,image/jpeg,image/webp"
        className="visually-hidden"
        tabIndex={-1}
        aria-invalid={problem ? true : undefined}
        aria-describedby={`${id}-note`}
        onChange={async (event) => {
          const file = event.currentTarget.files?.[0];
          event.currentTarget.value = '';
          if (!file) return;
          setTooLarge(file.size > maxBytes);
          if (file.size <= maxBytes) onChange(await toDataUrl(file));
        }}
      />
      <Bar>
        {value !== '' && <img src={value} alt="" className={css.thumb} />}
        <Button small disabledReason={disabledReason} onClick={() => input.current?.click()}>
          {value === '' ? words.choose : words.replace}
        </Button>
        {value !== '' && (
          <Button small kind="quiet" disabledReason={disabledReason} onClick={() => onChange('')}>
            {common.clear}
          </Button>
        )}
      </Bar>
      <p id={`${id}-note`} className={problem ? css.error : css.hint}>
        {problem ?? hint}
      </p>
    </div>
  );
};
