import { Button as AriaButton, type ButtonProps as AriaButtonProps } from 'react-aria-components';

export interface ButtonProps extends AriaButtonProps {
  readonly kind?: 'primary' | 'plain' | 'danger' | 'warn' | 'quiet' | 'link';
}

export const Button = ({ kind = 'plain', ...props }: ButtonProps) => (
  <AriaButton {...props} className={`button ${kind}`} />
);
