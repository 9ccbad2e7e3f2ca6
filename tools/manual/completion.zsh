#compdef @PROGRAM@
# Completion of @PROGRAM@ in zsh: asks the program itself.

_@PROGRAM@() {
  local line word meaning kept
  local -a words_found meanings_found
  local files=
  local -a suffix
  kept=${PREFIX%${PREFIX##*=}}
  for line in "${(@f)$(_call_program words ${(q)words[1]} --complete ${(q)words[2,CURRENT-1]} ${(q)PREFIX} 2>/dev/null)}"; do
    if [[ $line == :files ]]; then
      files=1
    elif [[ $line == :list ]]; then
      suffix=(-S ' ' -r ', ')
    elif [[ -n $line ]]; then
      word=${line%%$'\t'*}
      meaning=${line#*$'\t'}
      words_found+=("$word")
      meanings_found+=("$word${meaning:+  -- $meaning}")
    fi
  done
  (( ! $#words_found )) || compadd $suffix -l -d meanings_found -a words_found
  if [[ -n $files ]]; then
    [[ -z $kept ]] || compset -P '*='
    _files
  fi
}

_@PROGRAM@ "$@"
