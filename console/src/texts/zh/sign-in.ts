import type { signIn as source } from '../en/sign-in.ts';
import type { Translated } from '../translated.ts';

export const signIn: Translated<typeof source> = {
  yourSessionHasEnded: '您的会话已结束',
  yourSessionEndsInS: '您的会话将在 {seconds} 秒后结束',
  signInAgainAsThisPageStays: '请重新以 {name} 登录。此页面及您输入的所有内容都会保留。',
  passwordOf: '{name} 的密码',
  secretKeyOf: '{accessKey} 的秘密密钥',
  showWhatIsTyped: '显示输入内容',
  signIn: '登录',
  signInAsAnotherUser: '以其他用户登录',
  signInBy: '登录方式',
  directory: '目录',
  keys: '密钥',
  myKeysAreTemporaryAndHaveA: '我的密钥是临时的，并带有会话令牌',
  sessionToken: '会话令牌',
  password: '密码',
  signInCoffer: '登录 · Coffer',
  youAreNotSignedIn: '您尚未登录',
  waysToSignInCannotBeLoaded: '无法加载登录方式',
  orWithANameAndPassword: '或使用用户名和密码',
  orWithAnAccessKey: '或使用访问密钥',
  doesNotAnswerNow: '目前没有响应，请稍后再试。',
  youAreSignedInCloseThisWindow: '您已登录。请关闭此窗口。',
};
