#include "trace/python_frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "trace/event_names.h"

namespace tracedb {
namespace {

// Modules and packages of Python's library that are written in Python (sys.stdlib_module_names of 3.8 to 3.13), without
// those that no program calls while it runs and that scripts are named after: profile, trace, parser ...
constexpr std::string_view kStandard =
    " __future__ _aix_support _bootsubprocess _collections_abc _compat_pickle _compression _markupbase _osx_support "
    "_py_abc _pydatetime _pydecimal _pyio _pyrepl _sitebuiltins _strptime _threading_local _weakrefset abc aifc "
    "argparse ast asynchat asyncio asyncore base64 bdb binhex bisect bz2 cProfile calendar cgi cgitb code codecs "
    "codeop collections colorsys compileall concurrent configparser contextlib contextvars copy copyreg crypt csv "
    "ctypes curses dataclasses datetime dbm decimal difflib dis distutils doctest email encodings ensurepip enum "
    "filecmp fileinput fnmatch fractions ftplib functools genericpath getopt getpass gettext glob graphlib gzip "
    "hashlib heapq hmac html http imaplib imghdr importlib inspect io ipaddress json keyword lib2to3 linecache locale "
    "logging lzma mailbox mailcap mimetypes modulefinder multiprocessing netrc nntplib ntpath nturl2path numbers "
    "opcode operator optparse os pathlib pdb pickle pickletools pkgutil platform plistlib poplib posixpath pprint "
    "pstats pty py_compile pyclbr pydoc pydoc_data queue quopri random re reprlib rlcompleter runpy selectors shelve "
    "shlex shutil signal site smtpd smtplib sndhdr socket socketserver sqlite3 sre_compile sre_constants sre_parse ssl "
    "stat statistics string stringprep struct subprocess sunau symtable sysconfig tabnanny tarfile telnetlib tempfile "
    "textwrap threading timeit tkinter tokenize tomllib traceback tracemalloc tty turtle types typing unittest urllib "
    "uu uuid venv warnings wave weakref webbrowser wsgiref xdrlib xml xmlrpc zipapp zipfile zipimport zoneinfo ";

// Packages that programs of this field stand on. Models, layers and servers (transformers, torchvision, vllm, sglang)
// are not among them: what they do is what a reader wants to know.
constexpr std::string_view kPackages =
    " PIL _distutils_hack absl aiohttp anyio attr attrs beartype certifi cffi click cloudpickle cuda cupy cv2 "
    "decorator dill einops fastapi filelock fsspec functorch google grpc h5py huggingface_hub jaxtyping jinja2 joblib "
    "loguru markupsafe matplotlib mpmath msgpack msgspec multiprocess networkx numba numpy nvtx opt_einsum orjson "
    "packaging pandas pkg_resources psutil pyarrow pydantic pydantic_core regex requests rich scipy setuptools six "
    "starlette sympy torch torch_guard torchgen tqdm triton typing_extensions ";

// Folders into which compilers of torch and triton write Python.
constexpr std::array<std::string_view, 4> kCaches = {"/torchinductor", "/torch_compile_cache/", "/inductor_cache/",
                                                     "/.triton/"};
constexpr std::array<std::string_view, 2> kInstalled = {"/site-packages/", "/dist-packages/"};

bool has_word(std::string_view words, std::string_view word) {
  const bool is_word = !word.empty() && word.find(' ') == std::string_view::npos;
  return is_word && words.find(fmt::format(" {} ", word)) != std::string_view::npos;
}
bool is_package(std::string_view name) { return has_word(kPackages, name); }
bool is_standard(std::string_view name) { return has_word(kStandard, name); }

// Of "torch/nn/functional.py" torch, of "enum.py" enum.
std::string_view package_of(std::string_view file) {
  const std::string_view first = file.substr(0, file.find('/'));
  return first.size() == file.size() && first.ends_with(".py") ? first.substr(0, first.size() - 3) : first;
}

// Of "/usr/lib/python3.12/enum.py": a folder python3.* that holds no other packages.
bool is_in_standard_library(std::string_view file) {
  const std::size_t at = file.rfind("/python3");
  if (at == std::string_view::npos) return false;
  const std::size_t end = file.find('/', at + 1);
  return end != std::string_view::npos && is_standard(package_of(file.substr(end + 1)));
}

bool has_library_folder(std::string_view file) {
  for (std::size_t at = file.find('/'); at != std::string_view::npos;) {
    const std::size_t end = file.find('/', at + 1);
    if (end == std::string_view::npos) return false;
    if (is_package(file.substr(at + 1, end - at - 1))) return true;
    at = end;
  }
  return false;
}

FrameOrigin file_origin(std::string_view file) {
  if (file.starts_with("<frozen ")) return FrameOrigin::kLibrary;
  const auto is_in = [file](std::string_view folder) { return file.find(folder) != std::string_view::npos; };
  if (file.starts_with('<') || std::ranges::any_of(kCaches, is_in)) return FrameOrigin::kGenerated;
  for (const std::string_view folder : kInstalled) {
    if (const std::size_t at = file.rfind(folder); at != std::string_view::npos) {
      return is_package(package_of(file.substr(at + folder.size()))) ? FrameOrigin::kLibrary : FrameOrigin::kOwn;
    }
  }
  const bool is_library = file.starts_with('/') ? is_in_standard_library(file) || has_library_folder(file)
                                                : is_package(package_of(file)) || is_standard(package_of(file));
  return is_library ? FrameOrigin::kLibrary : FrameOrigin::kOwn;
}

}  // namespace

FrameOrigin frame_origin(std::string_view frame) {
  if (frame.starts_with(kModuleFrame)) return FrameOrigin::kModule;
  const FrameLabel label = frame_label(frame);
  return label.file.empty() ? FrameOrigin::kBuiltIn : file_origin(label.file);
}

std::string without_addresses(std::string_view frame) {
  constexpr std::string_view kAt = " at 0x";
  std::string out;
  for (std::size_t at = frame.find(kAt); at != std::string_view::npos; at = frame.find(kAt)) {
    const std::size_t end = frame.find_first_not_of("0123456789abcdefABCDEF", at + kAt.size());
    out.append(frame.substr(0, at));
    frame.remove_prefix(std::min(end, frame.size()));
  }
  return out.append(frame);
}

std::string without_line(std::string_view frame) {
  const FrameLabel label = frame_label(frame);
  return label.file.empty() ? std::string(frame) : fmt::format("{}: {}", label.file, label.function);
}

std::string short_frame(std::string_view frame) {
  const FrameLabel label = frame_label(frame);
  if (label.file.empty()) return without_addresses(frame);
  std::string_view file = label.file;
  std::size_t cut = file.rfind('/');
  if (cut != std::string_view::npos && file.substr(cut + 1) == "__init__.py" && cut > 0) cut = file.rfind('/', cut - 1);
  if (cut != std::string_view::npos) file.remove_prefix(cut + 1);
  return fmt::format("{}:{} {}", file, label.line, label.function);
}

}  // namespace tracedb
