// The commands that ask the same as the page, for the clipboard.
import { html, useState } from "./vendor/preact-htm.js";
import { askedBy, codeOf, hasToken, hiddenIn, isOpenToCurl, visible } from "./fetching.js";
import { t } from "./words.js";

// The command that asks for the same with curl; none where curl would get no answer.
export function CopyCurl({ words }) {
  const made = () => ({ text: ["curl", hasToken() && '-H "Authorization: Bearer $TOKEN"', ...words()].filter(Boolean).join(" "), needsToken: hasToken() });
  return isOpenToCurl() && html`<${Copy} label=${t("copyCurl")} made=${made} />`;
}

// The same with kubectl gpu. asked: () => {words, input}: its verb with what is asked for, and what it reads from its standard input.
export function CopyKubectl({ asked }) {
  const made = async () => {
    const { words, input } = asked();
    const { program, options, needsToken } = await askedBy();
    const command = [program, ...words, ...options.map(quoted), needsToken && '--token="$TOKEN"'].filter(Boolean).join(" ");
    return { text: input === undefined ? command : `printf %s ${quoted(input)} | ${command}`, needsToken };
  };
  return html`<${Copy} label=${t("copyKubectl")} made=${made} />`;
}

// What does not get into the clipboard, with the reason for the reader.
class Refused extends Error {}

// A name for a command. A link can contain anything, so what is no name of an object is refused.
export function named(text) {
  if (!/^[a-z0-9](?:[-.a-z0-9]{0,251}[a-z0-9])?$/.test(text)) throw new Refused(t("notAName", visible(text)));
  return text;
}

// A terminal obeys control characters in what is pasted, and shows nothing of others.
function refuseHidden(text) {
  const [first] = hiddenIn(text);
  if (first) throw new Refused(t("hiddenCharacter", codeOf(first)));
}

// made: {text, needsToken}, or a promise of it. A token is never copied: the text has $TOKEN.
function Copy({ label, made }) {
  const [done, setDone] = useState("");
  const copy = async () => {
    try {
      const { text, needsToken } = await made();
      refuseHidden(text);
      await navigator.clipboard.writeText(text);
      setDone(t(needsToken ? "copiedToken" : "copied"));
    } catch (fault) {
      setDone(fault instanceof Refused ? fault.message : t("notCopied"));
    }
  };
  return html`<span><button class="link" onClick=${copy}>${label}</button> <span role="status">${done}</span></span>`;
}

// The address of the page, which has no secret in it.
export function CopyLink() {
  return html`<${Copy} label=${t("copyLink")} made=${() => ({ text: location.href })} />`;
}

// A word for a POSIX shell.
export function quoted(text) {
  return /^[\w/:=.,@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
