//! A filter between stdin and tower-lsp, whose transport ends for good at the first message it cannot decode. What is no
//! JSON-RPC message is dropped here with a line in the log, and the next one is read.

use tokio::io::{
    AsyncBufRead, AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _,
    BufReader, DuplexStream, duplex,
};
use tower_lsp::jsonrpc::{Request, Response};

/// A message larger than this is no message; VS Code sends documents of up to 50 MB.
const LARGEST: usize = 512 << 20;
const BUFFER: usize = 64 << 10;

/// What arrives on `input`, without what is no message. Ends when `input` does.
pub fn filtered(input: impl AsyncRead + Unpin + Send + 'static) -> DuplexStream {
    let (mut sender, receiver) = duplex(BUFFER);
    tokio::spawn(async move {
        let mut input = BufReader::new(input);
        while let Some(body) = next(&mut input).await {
            if is_message(&body) {
                if pass(&mut sender, &body).await.is_err() {
                    return;
                }
            } else {
                let shown = String::from_utf8_lossy(&body[..body.len().min(80)]).into_owned();
                tracing::warn!("dropped what is no message: {shown}");
            }
        }
    });
    receiver
}

fn is_message(body: &[u8]) -> bool {
    serde_json::from_slice::<Request>(body).is_ok() || serde_json::from_slice::<Response>(body).is_ok()
}

async fn pass(to: &mut (impl AsyncWrite + Unpin), body: &[u8]) -> std::io::Result<()> {
    to.write_all(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes()).await?;
    to.write_all(body).await?;
    to.flush().await
}

/// The next body; `None` at the end of the input. Header lines that say nothing are passed over.
async fn next(input: &mut (impl AsyncBufRead + Unpin)) -> Option<Vec<u8>> {
    let mut length = None;
    loop {
        let mut line = Vec::new();
        if input.read_until(b'\n', &mut line).await.ok()? == 0 {
            return None;
        }
        let line = line.trim_ascii();
        match (line.is_empty(), length) {
            (true, Some(length)) => {
                let mut body = vec![0; length];
                input.read_exact(&mut body).await.ok()?;
                return Some(body);
            }
            (true, None) => {}
            (false, _) => length = content_length(line).or(length),
        }
    }
}

fn content_length(line: &[u8]) -> Option<usize> {
    let (name, value) = line.split_at(line.iter().position(|&byte| byte == b':')?);
    if !name.eq_ignore_ascii_case(b"content-length") {
        return None;
    }
    let length: usize = std::str::from_utf8(&value[1..]).ok()?.trim().parse().ok()?;
    (length <= LARGEST).then_some(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn through(input: &'static [u8]) -> String {
        let mut text = String::new();
        filtered(input).read_to_string(&mut text).await.expect("reading from memory");
        text
    }

    #[tokio::test]
    async fn only_messages_pass_and_the_end_is_the_end() {
        let text = through(
            b"Content-Length: 1\r\n\r\n{\
              Content-Length: 2\r\n\r\n[]\
              garbage\r\n\r\n\
              content-length: 37\r\nContent-Type: x\r\n\r\n{\"jsonrpc\":\"2.0\",\"method\":\"exit\"    }\
              Content-Length: 99\r\n\r\ncut",
        )
        .await;
        assert_eq!(text, "Content-Length: 37\r\n\r\n{\"jsonrpc\":\"2.0\",\"method\":\"exit\"    }");
    }
}
